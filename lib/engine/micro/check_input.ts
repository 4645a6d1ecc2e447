import type { Datum, Loss, SampleOptions, Sequence } from "../engine.ts";
import type { ModelShape } from "./model_shape.ts";

/** Checks what `sample` is given. @throws {RangeError} if a prompt cannot be continued, or a setting is outside its range */
export function checkSampling(prompts: readonly Int32Array[], options: SampleOptions, shape: ModelShape): void {
  const { n = 1, maxTokens, temperature, topP = 1, seeds } = options;
  const check = (isRight: boolean, what: string, need: string) => {
    if (!isRight) throw new RangeError(`Cannot sample with ${what}: need ${need}`);
  };
  check(Number.isInteger(n) && n >= 1, `n ${n}`, "a whole number of at least 1");
  check(Number.isInteger(maxTokens) && maxTokens >= 1, `maxTokens ${maxTokens}`, "a whole number of at least 1");
  check(temperature >= 0 && temperature < Infinity, `temperature ${temperature}`, "a finite number of at least 0");
  check(topP > 0 && topP <= 1, `topP ${topP}`, "a number in (0, 1]");
  check(seeds.length === prompts.length, `${seeds.length} seeds for ${prompts.length} prompts`, "one for each prompt");
  for (const [i, prompt] of prompts.entries()) {
    checkTokens(prompt, `prompt ${i}`, shape);
    if (prompt.length === 0) throw new RangeError(`Cannot sample from prompt ${i}: it is empty`);
    if (prompt.length >= shape.contextLength) {
      throw new RangeError(
        `Cannot sample from prompt ${i}: its ${prompt.length} tokens leave no room in the context of ` +
          `${shape.contextLength}; shorten it, or make the engine with a longer context`,
      );
    }
  }
}

/** Checks what `logprobs` is given. @throws {RangeError} if a sequence cannot be scored */
export function checkSequences(sequences: readonly Sequence[], shape: ModelShape): void {
  for (const [i, { prompt, continuation }] of sequences.entries()) {
    checkContext(prompt, continuation, `sequence ${i}`, shape);
  }
}

/**
 * Checks what `forwardBackward` is given.
 *
 * @throws {RangeError} if a sequence is empty or too long, an array has the wrong length, or a setting is out of range
 * @throws {TypeError} if the loss needs an array that is missing
 */
export function checkBatch(batch: readonly Datum[], loss: Loss, shape: ModelShape): void {
  checkLoss(loss);
  for (const [i, datum] of batch.entries()) {
    const { prompt, continuation, mask, weights, logprobs, teacherPrompt } = datum;
    const name = `datum ${i}`;
    checkContext(prompt, continuation, name, shape);
    if (loss.kind === "ppo" && logprobs === undefined) {
      throw new TypeError(`Cannot compute a ppo loss of ${name}: it has no logprobs from sampling time`);
    }
    if (loss.kind === "teacher-kl") {
      if (teacherPrompt === undefined) {
        throw new TypeError(`Cannot compute a teacher-kl loss of ${name}: it has no teacherPrompt`);
      }
      checkContext(teacherPrompt, continuation, `${name} under its teacherPrompt`, shape);
    }
    for (const [field, values] of Object.entries({ mask, weights, logprobs })) {
      if (values !== undefined && values.length !== continuation.length) {
        throw new RangeError(
          `Cannot learn from ${name}: its ${field} have ${values.length} entries for ${continuation.length} tokens`,
        );
      }
    }
  }
}

function checkLoss(loss: Loss): void {
  const { coefficient = 1 } = loss;
  const check = (name: string, value: number, isRight: boolean, need: string) => {
    if (!isRight) throw new RangeError(`Cannot compute a ${loss.kind} loss with ${name} ${value}: need ${need}`);
  };
  check("coefficient", coefficient, Number.isFinite(coefficient), "a finite number");
  if (loss.kind !== "ppo") return;
  const { clipLow, clipHigh, dualClip = Infinity, klCoef = 0 } = loss;
  check("clipLow", clipLow, clipLow >= 0 && clipLow <= 1, "a number in [0, 1]");
  check("clipHigh", clipHigh, clipHigh >= 0, "a number of at least 0");
  check("dualClip", dualClip, dualClip > 1, "a number above 1");
  check("klCoef", klCoef, Number.isFinite(klCoef), "a finite number");
}

function checkContext(prompt: Int32Array, continuation: Int32Array, name: string, shape: ModelShape): void {
  if (prompt.length === 0) throw new RangeError(`Cannot read ${name}: its prompt is empty`);
  const length = prompt.length + continuation.length;
  if (length > shape.contextLength) {
    throw new RangeError(
      `Cannot read ${name}: its ${length} tokens are more than the context of ${shape.contextLength}; shorten it, or ` +
        "make the engine with a longer context",
    );
  }
  checkTokens(prompt, name, shape);
  checkTokens(continuation, name, shape);
}

function checkTokens(tokens: Int32Array, name: string, { vocabulary }: ModelShape): void {
  for (const token of tokens) {
    if (!(token >= 0 && token < vocabulary)) {
      throw new RangeError(`Cannot read ${name}: token ${token} is outside the vocabulary of ${vocabulary}`);
    }
  }
}
