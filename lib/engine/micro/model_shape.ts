/** Sizes of a decoder-only transformer: RMSNorm, rotary positions, squared ReLU, untied head, no biases. */
export interface ModelShape {
  /** Number of token ids; a multiple of 8. */
  vocabulary: number;
  /** Size of the residual stream; `heads` times a multiple of 16. */
  width: number;
  /** Number of blocks of attention and feed-forward. */
  layers: number;
  /** Attention heads. */
  heads: number;
  /** Size of the hidden layer of the feed-forward blocks; a multiple of 8. */
  feedForward: number;
  /** Most tokens of a sequence. */
  contextLength: number;
  /** Base of the rotary frequencies; small, because the contexts are short. */
  rotaryBase: number;
}

/** A parameter tensor and where it lies in the flat parameter vector. */
export interface ParameterTensor {
  /** As in checkpoints, e.g. `layers.0.qkv.weight`. */
  name: string;
  /** Matrices are [input, output]. */
  shape: readonly number[];
  /** In numbers from the start of the vector. */
  offset: number;
  /** Number of elements. */
  size: number;
}

/** Offsets of one layer's tensors, in numbers. */
export interface LayerOffsets {
  /** [width] */
  attentionNorm: number;
  /** [width, 3 · width] */
  qkv: number;
  /** [width, width] */
  attentionOutput: number;
  /** [width] */
  feedForwardNorm: number;
  /** [width, feedForward] */
  up: number;
  /** [feedForward, width] */
  down: number;
}

/** Where every tensor lies in the flat parameter vector. */
export interface ParameterLayout {
  /** In the order of their offsets. */
  tensors: readonly ParameterTensor[];
  /** Number of parameters. */
  size: number;
  /** Offset of the embedding, [vocabulary, width]. */
  embedding: number;
  /** Offsets of every layer. */
  layers: readonly LayerOffsets[];
  /** Offset of the last norm, [width]. */
  finalNorm: number;
  /** Offset of the head, [width, vocabulary]. */
  head: number;
}

/** Checks a model's sizes. @throws {RangeError} for sizes that the kernels cannot compute */
export function checkModelShape(shape: ModelShape): void {
  const { vocabulary, width, layers, heads, feedForward, contextLength, rotaryBase } = shape;
  for (const [name, value] of Object.entries({ vocabulary, width, layers, heads, feedForward, contextLength })) {
    if (!Number.isInteger(value) || value < 1) {
      throw new RangeError(`Cannot make a model with ${name} ${value}: need a whole number of at least 1`);
    }
  }
  requireMultiple("vocabulary", vocabulary, 8);
  requireMultiple("feedForward", feedForward, 8);
  if (width % (16 * heads) !== 0) {
    throw new RangeError(
      `Cannot make a model with width ${width} and ${heads} heads: a head (width / heads) must be a multiple of 16`,
    );
  }
  if (!(rotaryBase > 1) || !Number.isFinite(rotaryBase)) {
    throw new RangeError(`Cannot make a model with rotaryBase ${rotaryBase}: need a finite number above 1`);
  }
}

function requireMultiple(name: string, value: number, factor: number): void {
  if (value % factor !== 0) {
    throw new RangeError(`Cannot make a model with ${name} ${value}: the kernels need a multiple of ${factor}`);
  }
}

/** Names, shapes and places of all tensors, in the order in which they are stored. */
export function parameterLayout({ vocabulary, width, layers, feedForward }: ModelShape): ParameterLayout {
  const tensors: ParameterTensor[] = [];
  let size = 0;
  const place = (name: string, ...shape: number[]): number => {
    const offset = size;
    tensors.push({ name, shape, offset, size: shape.reduce((product, length) => product * length, 1) });
    size += tensors[tensors.length - 1].size;
    return offset;
  };
  const embedding = place("embedding.weight", vocabulary, width);
  const blocks = Array.from({ length: layers }, (_, layer): LayerOffsets => ({
    attentionNorm: place(`layers.${layer}.attention_norm.weight`, width),
    qkv: place(`layers.${layer}.qkv.weight`, width, 3 * width),
    attentionOutput: place(`layers.${layer}.attention_output.weight`, width, width),
    feedForwardNorm: place(`layers.${layer}.feed_forward_norm.weight`, width),
    up: place(`layers.${layer}.up.weight`, width, feedForward),
    down: place(`layers.${layer}.down.weight`, feedForward, width),
  }));
  const finalNorm = place("final_norm.weight", width);
  const head = place("head.weight", width, vocabulary);
  return { tensors, size, embedding, layers: blocks, finalNorm, head };
}
