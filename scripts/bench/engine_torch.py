"""The torch side of scripts/bench/engine.ts: the same model, data and losses in torch, one thread.

    python engine_torch.py MODEL.safetensors WORK.json

Reads commands from standard input, one a line: `update`, `sample` or `memory`; answers each with one line of JSON.
"""

import json
import resource
import struct
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

torch.set_num_threads(1)


def read_model(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        data = file.read()
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        values = np.frombuffer(data[begin:end], dtype="<f4").reshape(entry["shape"])
        tensors[name] = torch.nn.Parameter(torch.from_numpy(values.copy()))
    return tensors


class Model:
    def __init__(self, tensors, heads, context, base):
        self.tensors, self.heads = tensors, heads
        self.width = tensors["final_norm.weight"].numel()
        self.layers = sum(name.endswith("qkv.weight") for name in tensors)
        size = self.width // heads
        frequency = base ** (-torch.arange(size // 2) / (size // 2))
        angle = torch.arange(context)[:, None] * frequency
        self.cos, self.sin = torch.cat([angle.cos()] * 2, -1), torch.cat([-angle.sin(), angle.sin()], -1)

    def layer(self, i):
        names = ("attention_norm", "qkv", "attention_output", "feed_forward_norm", "up", "down")
        return [self.tensors[f"layers.{i}.{name}.weight"] for name in names]

    def norm(self, x, gain):
        return F.rms_norm(x, (self.width,), gain, 1e-5)

    def rotate(self, x, cos, sin):
        half = x.shape[-1] // 2
        return x * cos + torch.cat([x[..., half:], x[..., :half]], -1) * sin

    def feed_forward(self, x, norm, up, down):
        return x + F.relu(self.norm(x, norm) @ up).square() @ down

    def head(self, x):
        return self.norm(x, self.tensors["final_norm.weight"]) @ self.tensors["head.weight"]

    def logits(self, tokens, first):
        """Of the rows from `first` on."""
        batch, length = tokens.shape
        cos, sin = self.cos[:length], self.sin[:length]
        x = F.embedding(tokens, self.tensors["embedding.weight"])
        for i in range(self.layers):
            norm1, qkv, out, norm2, up, down = self.layer(i)
            q, k, v = (self.norm(x, norm1) @ qkv).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
            q, k = self.rotate(q, cos, sin), self.rotate(k, cos, sin)
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + mixed.transpose(1, 2).reshape(batch, length, -1) @ out
            x = self.feed_forward(x, norm2, up, down)
        return self.head(x[:, first:])

    def extend(self, x, cache, start, end, attend):
        """Embedded tokens at positions start … end − 1; keys and values are written into the cache."""
        batch, length = x.shape[:2]
        cos, sin = self.cos[start:end], self.sin[start:end]
        for i in range(self.layers):
            norm1, qkv, out, norm2, up, down = self.layer(i)
            q, k, v = (self.norm(x, norm1) @ qkv).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
            cache[i, 0, :, :, start:end] = self.rotate(k, cos, sin)
            cache[i, 1, :, :, start:end] = v
            mixed = attend(self.rotate(q, cos, sin), cache[i, 0, :, :, :end], cache[i, 1, :, :, :end], length > 1)
            x = x + mixed.transpose(1, 2).reshape(batch, length, -1) @ out
            x = self.feed_forward(x, norm2, up, down)
        return self.head(x[:, -1])


def attend_fused(q, k, v, is_causal):
    return F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)


def attend_plain(q, k, v, is_causal):
    if is_causal:
        return attend_fused(q, k, v, True)
    return ((q * q.shape[-1] ** -0.5) @ k.transpose(-1, -2)).softmax(-1) @ v


def sampler(model, prompts, new_tokens, attend):
    batch, length = prompts.shape
    shape = (model.layers, 2, batch, model.heads, length + new_tokens, model.width // model.heads)
    cache = torch.empty(shape)
    embedding = model.tensors["embedding.weight"]

    @torch.inference_mode()
    def sample():
        tokens, logprobs = [], []
        logits = model.extend(F.embedding(prompts, embedding), cache, 0, length, attend)
        for t in range(new_tokens):
            table = logits.log_softmax(-1)
            token = torch.multinomial(table.exp(), 1)
            tokens.append(token)
            logprobs.append(table.gather(1, token))
            if t + 1 < new_tokens:
                x = F.embedding(token, embedding)
                logits = model.extend(x, cache, length + t, length + t + 1, attend)
        return torch.cat(tokens, 1), torch.cat(logprobs, 1)

    return sample


def updater(model, work):
    tokens = torch.tensor(work["tokens"])
    prompt = work["promptLength"]
    old, advantages = torch.tensor(work["logprobs"]), torch.tensor(work["advantages"])
    targets = tokens[:, prompt:, None]
    optimizer = torch.optim.AdamW(model.tensors.values(), lr=0.0, betas=(0.9, 0.95), weight_decay=0.0, fused=True)

    def update():
        logits = model.logits(tokens[:, :-1], prompt - 1)
        logprobs = logits.log_softmax(-1).gather(-1, targets)[..., 0]
        ratio = (logprobs - old).clamp(-20, 20).exp()
        loss = torch.maximum(-advantages * ratio, -advantages * ratio.clamp(0.8, 1.2)).mean()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.tensors.values(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        return loss.item()

    return update


def seconds(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def main(model_path, work_path):
    work = json.load(open(work_path))
    model = Model(read_model(model_path), work["heads"], work["contextLength"], work["rotaryBase"])
    prompts = torch.tensor(work["tokens"])[:, : work["promptLength"]]
    samplers = [sampler(model, prompts, work["newTokens"], attend) for attend in (attend_fused, attend_plain)]
    update = updater(model, work)
    best = None
    for line in sys.stdin:
        command = line.strip()
        if command == "update":
            time_s, loss = seconds(update)
            answer = dict(milliseconds=1000 * time_s, loss=loss)
        elif command == "sample":
            if best is None:
                times = [min(seconds(sample)[0] for _ in range(3)) for sample in samplers]
                best = samplers[times.index(min(times))]
            answer = dict(milliseconds=1000 * seconds(best)[0], attention="fused" if best is samplers[0] else "plain")
        else:
            usage = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
            answer = dict(bytes=usage, torch=torch.__version__)
        print(json.dumps(answer), flush=True)


main(*sys.argv[1:])
