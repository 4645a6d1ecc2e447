/**
 * log p(label) under a softmax over logits, without overflow.
 *
 * @param logits `[vocabulary]`
 * @param label index into it
 * @throws {RangeError} if there is no such label
 */
export function labelLogprob(logits: ArrayLike<number>, label: number): number {
  if (!(label in logits)) throw new RangeError(`Cannot look up token ${label}: there are ${logits.length} logits`);
  return logits[label] - logSumExp(logits);
}

/**
 * Entropy of a softmax over logits, in nats (verl 0.9.1 torch_functional.py, entropy_from_logits); a logit of −∞ has no
 * part in it.
 *
 * @param logits `[vocabulary]`
 */
export function softmaxEntropy(logits: ArrayLike<number>): number {
  const logTotal = logSumExp(logits);
  let entropy = 0;
  for (let i = 0; i < logits.length; i++) {
    // Summed as −Σ p·log p: log Σe^x − Σp·x loses digits where all logits are large.
    if (logits[i] !== -Infinity) entropy += Math.exp(logits[i] - logTotal) * (logTotal - logits[i]);
  }
  return entropy;
}

/** log Σ e^x, shifted by the maximum so that nothing overflows. */
export function logSumExp(values: ArrayLike<number>): number {
  let maximum = -Infinity;
  for (let i = 0; i < values.length; i++) maximum = Math.max(maximum, values[i]);
  // All −∞, or one +∞: the shift would give NaN.
  if (!Number.isFinite(maximum)) return maximum;
  let total = 0;
  for (let i = 0; i < values.length; i++) total += Math.exp(values[i] - maximum);
  return maximum + Math.log(total);
}
