import { type RandomStream, randomStream } from "../../random/stream.ts";
import { type Arena, createArena } from "./arena.ts";
import type { Kernels, Pointer } from "./kernels.ts";
import { type ModelShape, type ParameterLayout, parameterLayout, type ParameterTensor } from "./model_shape.ts";

/** A transformer in the kernels' memory: its sizes and tables, but no particular weights. */
export interface Model {
  shape: ModelShape;
  layout: ParameterLayout;
  kernels: Kernels;
  arena: Arena;
  /** Rotary tables, [contextLength, head width / 2]. */
  cosine: Pointer;
  sine: Pointer;
}

/** A model's layout and kernels. @param shape checked by `checkModelShape` */
export function createModel(shape: ModelShape, kernels: Kernels): Model {
  const arena = createArena(kernels.memory, kernels.heapBase);
  const half = shape.width / shape.heads / 2;
  const cosine = arena.keep(shape.contextLength * half);
  const sine = arena.keep(shape.contextLength * half);
  for (let position = 0; position < shape.contextLength; position++) {
    for (let c = 0; c < half; c++) {
      const angle = position * Math.pow(shape.rotaryBase, -c / half);
      arena.f32[(cosine >> 2) + position * half + c] = Math.cos(angle);
      arena.f32[(sine >> 2) + position * half + c] = Math.sin(angle);
    }
  }
  return { shape, layout: parameterLayout(shape), kernels, arena, cosine, sine };
}

/**
 * Random weights as one flat vector: normal numbers of deviation 1/√input, half of it for the matrices that write into
 * the residual stream and for the head, 0.5 for the embedding; norms are 1. Equal seeds give equal weights.
 */
export function initialWeights({ tensors, size }: ParameterLayout, seed: number): Float32Array {
  const weights = new Float32Array(size);
  for (const tensor of tensors) {
    const values = weights.subarray(tensor.offset, tensor.offset + tensor.size);
    if (tensor.shape.length === 1) {
      values.fill(1);
      continue;
    }
    const stream = randomStream(seed, "weights", tensor.name);
    const deviation = initialDeviation(tensor);
    for (let i = 0; i < values.length; i++) values[i] = deviation * normal(stream);
  }
  return weights;
}

function initialDeviation({ name, shape }: ParameterTensor): number {
  if (name === "embedding.weight") return 0.5;
  const isHalved = /^head|attention_output|down/.test(name);
  return (isHalved ? 0.5 : 1) / Math.sqrt(shape[0]);
}

/** A standard normal number (Box and Muller 1958). */
function normal(stream: RandomStream): number {
  return Math.sqrt(-2 * Math.log(1 - stream.next())) * Math.cos(2 * Math.PI * stream.next());
}
