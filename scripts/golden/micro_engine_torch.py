"""Golden gradients and updates of the embedded engine, from torch in float64.

    python3 -m venv VENV && VENV/bin/pip install torch==2.13.0 numpy
    VENV/bin/python scripts/golden/micro_engine_torch.py test/golden/micro_engine_torch.json

The model is written here once more, from its description, with torch's own operations; gradients are autograd's. Weights
and tokens come from a hash that the test repeats, so that the file holds results only: of every tensor's gradient its
norm and up to 48 entries at a constant stride.
"""

import json
import math
import sys

import torch
import torch.nn.functional as F

SHAPE = dict(vocabulary=40, width=32, layers=2, heads=2, feedForward=48, contextLength=24, rotaryBase=200)
LENGTHS = [(3, 7), (1, 12), (5, 4), (2, 9)]  # prompt, continuation
TEACHER_LENGTHS = [4, 6, 2, 3]
MASKED = 5  # every fifth continuation token is the tool's
DTYPE = torch.float64


def uniform(salt, i):
    """In [-1, 1): MurmurHash3's finaliser over a salted index."""
    h = (i + salt * 0x9E3779B9) & 0xFFFFFFFF
    h = ((h ^ (h >> 16)) * 0x85EBCA6B) & 0xFFFFFFFF
    h = ((h ^ (h >> 13)) * 0xC2B2AE35) & 0xFFFFFFFF
    return ((h ^ (h >> 16)) & 0xFFFFFFFF) / 2**31 - 1


def names():
    d, f, v = SHAPE["width"], SHAPE["feedForward"], SHAPE["vocabulary"]
    yield "embedding.weight", (v, d)
    for i in range(SHAPE["layers"]):
        yield f"layers.{i}.attention_norm.weight", (d,)
        yield f"layers.{i}.qkv.weight", (d, 3 * d)
        yield f"layers.{i}.attention_output.weight", (d, d)
        yield f"layers.{i}.feed_forward_norm.weight", (d,)
        yield f"layers.{i}.up.weight", (d, f)
        yield f"layers.{i}.down.weight", (f, d)
    yield "final_norm.weight", (d,)
    yield "head.weight", (d, v)


def weights(salt, spread):
    """Uniform numbers of the tensor's scale; norms around 1. `spread` mixes in numbers of another salt."""
    result = {}
    for index, (name, shape) in enumerate(names()):
        size = math.prod(shape)
        value = [uniform(1 + index, i) + spread * uniform(salt + index, i) for i in range(size)]
        tensor = torch.tensor(value, dtype=DTYPE).reshape(shape)
        tensor = 1 + 0.2 * tensor if len(shape) == 1 else tensor * (0.9 if index == 0 else 1.7 / math.sqrt(shape[0]))
        result[name] = tensor.to(torch.float32).to(DTYPE)  # what the engine holds
    return result


def tokens(salt, count):
    return [int((uniform(salt, i) + 1) / 2 * SHAPE["vocabulary"]) for i in range(count)]


def rotate(x):
    """[heads, length, head width]: halves turned by the position."""
    length, half = x.shape[1], x.shape[2] // 2
    frequency = SHAPE["rotaryBase"] ** (-torch.arange(half, dtype=DTYPE) / half)
    angle = torch.arange(length, dtype=DTYPE)[:, None] * frequency
    x0, x1 = x[..., :half], x[..., half:]
    return torch.cat([x0 * angle.cos() - x1 * angle.sin(), x1 * angle.cos() + x0 * angle.sin()], -1)


def logprobs(w, prompt, continuation):
    """[continuation, vocabulary]"""
    d, heads = SHAPE["width"], SHAPE["heads"]
    x = w["embedding.weight"][torch.tensor(prompt + continuation[:-1])]
    for i in range(SHAPE["layers"]):
        layer = f"layers.{i}."
        h = F.rms_norm(x, (d,), w[layer + "attention_norm.weight"], 1e-5) @ w[layer + "qkv.weight"]
        q, k, v = (part.reshape(-1, heads, d // heads).transpose(0, 1) for part in h.split(d, -1))
        mixed = F.scaled_dot_product_attention(rotate(q), rotate(k), v, is_causal=True)
        x = x + mixed.transpose(0, 1).reshape(-1, d) @ w[layer + "attention_output.weight"]
        h = F.rms_norm(x, (d,), w[layer + "feed_forward_norm.weight"], 1e-5) @ w[layer + "up.weight"]
        x = x + F.relu(h).square() @ w[layer + "down.weight"]
    h = F.rms_norm(x[len(prompt) - 1 :], (d,), w["final_norm.weight"], 1e-5)
    return F.log_softmax(h @ w["head.weight"], -1)


def target(table, continuation):
    return table.gather(1, torch.tensor(continuation)[:, None])[:, 0]


def aggregate(losses, masks, aggregation):
    if aggregation == "token-mean":
        return sum((l * m).sum() for l, m in zip(losses, masks)) / sum(m.sum() for m in masks)
    means = [(l * m).sum() / m.sum() for l, m in zip(losses, masks) if m.sum() > 0]
    return sum(means) / len(means)


def token_losses(w, other, loss, data):
    result = []
    for datum in data:
        table = logprobs(w, datum["prompt"], datum["continuation"])
        lp, weight = target(table, datum["continuation"]), torch.tensor(datum["weights"], dtype=DTYPE)
        if loss["kind"] == "weighted-nll":
            result.append(-weight * lp)
        elif loss["kind"] == "teacher-kl":
            teacher = logprobs(other, datum["teacherPrompt"], datum["continuation"]).detach()
            result.append(weight * F.kl_div(table, teacher, reduction="none", log_target=True).sum(-1))
        else:
            ratio = (lp - torch.tensor(datum["logprobs"], dtype=DTYPE)).clamp(-20, 20).exp()
            clipped = ratio.clamp(1 - loss["clipLow"], 1 + loss["clipHigh"])
            surrogate = torch.maximum(-weight * ratio, -weight * clipped)
            bounded = torch.minimum(surrogate, -weight * loss["dualClip"])
            difference = target(logprobs(other, datum["prompt"], datum["continuation"]), datum["continuation"]) - lp
            difference = difference.clamp(-20, 20)
            kl = (difference.exp() - difference - 1).clamp(-10, 10)  # veRL's low_var_kl
            result.append(torch.where(weight < 0, bounded, surrogate) + loss["klCoef"] * kl)
    return result


def gradient(w, other, losses, data):
    leaves = {name: value.clone().requires_grad_() for name, value in w.items()}
    masks = [torch.tensor(datum["mask"], dtype=DTYPE) for datum in data]
    value = sum(
        loss.get("coefficient", 1) * aggregate(token_losses(leaves, other, loss, data), masks, loss["aggregation"])
        for loss in losses
    )
    value.backward()
    return value.item(), {name: leaf.grad for name, leaf in leaves.items()}


def excerpt(tensors):
    result = {}
    for name, tensor in tensors.items():
        flat = tensor.flatten()
        stride = max(1, flat.numel() // 48)
        result[name] = dict(norm=float(f"{flat.norm():.7g}"), stride=stride, values=[float(f"{x:.6g}") for x in flat[::stride]])
    return result


def make_data(w):
    data = []
    for s, (prompt, continuation) in enumerate(LENGTHS):
        sequence = tokens(1000 + s, prompt + continuation)
        datum = dict(prompt=sequence[:prompt], continuation=sequence[prompt:], teacherPrompt=tokens(2000 + s, TEACHER_LENGTHS[s]))
        lp = target(logprobs(w, datum["prompt"], datum["continuation"]), datum["continuation"])
        round4 = lambda values: [round(float(x), 4) for x in values]
        # Old log-probabilities far enough from the current ones that every clip is met.
        datum["logprobs"] = round4(x - 1.6 * uniform(3000 + s, t) for t, x in enumerate(lp))
        datum["weights"] = round4(uniform(4000 + s, t) for t in range(continuation))
        datum["mask"] = [0 if t % MASKED == MASKED - 1 or s == 3 and t > 2 else 1 for t in range(continuation)]
        data.append(datum)
    return data


def losses():
    for aggregation in ("token-mean", "seq-mean-token-mean"):
        common = dict(aggregation=aggregation)
        yield dict(kind="ppo", clipLow=0.2, clipHigh=0.28, dualClip=3, klCoef=0.05, reference="reference", **common)
        yield dict(kind="weighted-nll", coefficient=0.7, **common)
        yield dict(kind="teacher-kl", teacher="current", **common)
        yield dict(kind="teacher-kl", teacher="reference", coefficient=1.5, **common)


def main(path):
    current, reference = weights(0, 0), weights(500, 0.2)
    data = make_data(current)
    other = lambda loss: current if loss.get("teacher") == "current" else reference
    cases = []
    for loss in losses():
        value, grad = gradient(current, other(loss), [loss], data)
        cases.append(dict(loss=loss, value=value, gradient=excerpt(grad)))

    mixed = [next(losses()), dict(kind="weighted-nll", aggregation="seq-mean-token-mean", coefficient=0.3)]
    options = dict(learningRate=0.003, beta1=0.9, beta2=0.95, epsilon=1e-6, weightDecay=0.1, maxGradNorm=0.5)
    parameters = {name: torch.nn.Parameter(value.clone()) for name, value in current.items()}
    optimizer = torch.optim.AdamW(parameters.values(), lr=0.003, betas=(0.9, 0.95), eps=1e-6, weight_decay=0.1)
    norms = []
    for _ in range(3):
        _, grad = gradient({name: p.detach() for name, p in parameters.items()}, reference, mixed, data)
        for name, parameter in parameters.items():
            parameter.grad = grad[name]
        norms.append(float(torch.nn.utils.clip_grad_norm_(parameters.values(), 0.5)))
        optimizer.step()
    update = dict(losses=mixed, options=options, norms=norms, weights=excerpt({k: p.detach() for k, p in parameters.items()}))
    result = dict(torch=torch.__version__, shape=SHAPE, data=data, cases=cases, update=update)
    with open(path, "w") as file:
        file.write(json.dumps(result, separators=(",", ":")) + "\n")


main(sys.argv[1])
