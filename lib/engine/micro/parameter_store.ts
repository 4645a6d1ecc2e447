import type { Aggregation, Loss, OptimOptions, UpdateMetrics } from "../engine.ts";
import type { Pointer } from "./kernels.ts";
import type { Model } from "./model.ts";

/** Gradient of the losses of one kind and aggregation, not yet divided by its denominator. */
interface GradientSum {
  pointer: Pointer;
  denominator: number;
}

/** The trainable weights with everything that an update needs, as flat vectors in the kernels' memory. */
export interface ParameterStore {
  weights: Pointer;
  /** Adam's running means of the gradient and of its square. */
  mean: Pointer;
  variance: Pointer;
  /** Updates so far. */
  step: number;
  /** One for each kind and aggregation that a step has seen. */
  sums: Map<string, GradientSum>;
  total: Pointer;
}

/** Places weights, gradient and moments in the arena. @param initial the flat parameter vector */
export function createParameterStore({ layout, arena }: Model, initial: Float32Array): ParameterStore {
  const [weights, mean, variance, total] = [0, 1, 2, 3].map(() => arena.keep(layout.size));
  arena.f32.set(initial, weights >> 2);
  return { weights, mean, variance, step: 0, sums: new Map(), total };
}

/** Where gradients of losses of this kind are added up, having counted `denominator` for them. */
export function gradientSum(
  { arena, layout, kernels }: Model,
  store: ParameterStore,
  kind: Loss["kind"],
  aggregation: Aggregation,
  denominator: number,
): Pointer {
  const name = `${kind} ${aggregation}`;
  let sum = store.sums.get(name);
  if (sum === undefined) {
    sum = { pointer: arena.keep(layout.size), denominator: 0 };
    kernels.zero(sum.pointer, layout.size);
    store.sums.set(name, sum);
  }
  sum.denominator += denominator;
  return sum.pointer;
}

/** Forgets the accumulated gradients. */
export function clearGradients({ kernels, layout }: Model, store: ParameterStore): void {
  for (const sum of store.sums.values()) {
    kernels.zero(sum.pointer, layout.size);
    sum.denominator = 0;
  }
}

/** Forgets the optimizer's state and the accumulated gradients. */
export function resetOptimizer(model: Model, store: ParameterStore): void {
  model.kernels.zero(store.mean, model.layout.size);
  model.kernels.zero(store.variance, model.layout.size);
  store.step = 0;
  clearGradients(model, store);
}

/** The gradient of everything accumulated, each loss divided by its own denominator; written to `store.total`. */
export function totalGradient({ kernels, layout }: Model, store: ParameterStore): Pointer {
  kernels.zero(store.total, layout.size);
  for (const { pointer, denominator } of store.sums.values()) {
    if (denominator > 0) kernels.addScaled(pointer, store.total, layout.size, 1 / denominator);
  }
  return store.total;
}

/**
 * One AdamW step (Loshchilov and Hutter 2019) on all parameters; the accumulated gradients are cleared.
 *
 * @throws {RangeError} for settings outside their range; nothing is changed
 * @throws {Error} if the gradient is not finite; the weights are unchanged and the gradients cleared
 */
export function adamWStep(model: Model, store: ParameterStore, options: OptimOptions): UpdateMetrics {
  checkOptimOptions(options);
  const { learningRate, beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8, weightDecay = 0, maxGradNorm = Infinity } = options;
  const { kernels, layout: { size } } = model;
  const gradient = totalGradient(model, store);
  const gradientNorm = Math.sqrt(kernels.sumOfSquares(gradient, size));
  clearGradients(model, store);
  if (!Number.isFinite(gradientNorm)) {
    throw new Error(
      `Cannot update the weights: the gradient's norm is ${gradientNorm}. The weights are unchanged and the gradient is ` +
        "cleared; look for infinite or missing advantages, weights or log-probabilities in the batch",
    );
  }
  store.step++;
  const scale = gradientNorm > maxGradNorm ? maxGradNorm / gradientNorm : 1;
  kernels.adamW(
    store.weights,
    gradient,
    store.mean,
    store.variance,
    size,
    learningRate / (1 - beta1 ** store.step),
    beta1,
    beta2,
    epsilon,
    1 / (1 - beta2 ** store.step),
    1 - learningRate * weightDecay,
    scale,
  );
  return { grad_norm: gradientNorm, learning_rate: learningRate, step: store.step };
}

function checkOptimOptions(options: OptimOptions): void {
  const { learningRate, beta1 = 0, beta2 = 0, epsilon = 1, weightDecay = 0, maxGradNorm = 1 } = options;
  const check = (name: string, value: number, isRight: boolean, need: string) => {
    if (!isRight) throw new RangeError(`Cannot update the weights with ${name} ${value}: need ${need}`);
  };
  check("learningRate", learningRate, learningRate >= 0 && learningRate < Infinity, "a finite number of at least 0");
  check("beta1", beta1, beta1 >= 0 && beta1 < 1, "a number in [0, 1)");
  check("beta2", beta2, beta2 >= 0 && beta2 < 1, "a number in [0, 1)");
  check("epsilon", epsilon, epsilon > 0 && epsilon < Infinity, "a finite number above 0");
  check("weightDecay", weightDecay, weightDecay >= 0 && weightDecay < Infinity, "a finite number of at least 0");
  check("maxGradNorm", maxGradNorm, maxGradNorm > 0, "a number above 0");
}
