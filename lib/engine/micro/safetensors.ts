/** A tensor of float32 numbers. */
export interface Float32Tensor {
  shape: readonly number[];
  values: Float32Array;
}

/** The content of a safetensors file whose tensors are all F32. */
export interface SafetensorsFile {
  tensors: ReadonlyMap<string, Float32Tensor>;
  metadata: Readonly<Record<string, string>>;
}

const LENGTH_BYTES = 8;
const MOST_HEADER_BYTES = 100_000_000; // the limit of the reference implementation
const ALIGNMENT = 8;

/**
 * A safetensors file: length of the header (uint64, little end first), header (JSON), numbers
 * (github.com/huggingface/safetensors, "Format").
 */
export function encodeSafetensors({ tensors, metadata }: SafetensorsFile): Uint8Array {
  const header: Record<string, unknown> = { __metadata__: metadata };
  let size = 0;
  for (const [name, { shape, values }] of tensors) {
    header[name] = { dtype: "F32", shape, data_offsets: [size, size + 4 * values.length] };
    size += 4 * values.length;
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  const start = LENGTH_BYTES + Math.ceil(text.length / ALIGNMENT) * ALIGNMENT;
  const bytes = new Uint8Array(start + size);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(start - LENGTH_BYTES), true);
  bytes.set(text, LENGTH_BYTES);
  bytes.fill(0x20, LENGTH_BYTES + text.length, start); // padding is spaces, so that the numbers are aligned
  let offset = start;
  for (const { values } of tensors.values()) {
    bytes.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), offset);
    offset += values.byteLength;
  }
  return bytes;
}

/**
 * Reads a safetensors file. Nothing in it is trusted: sizes and offsets are checked before anything is read by them.
 *
 * @param name of the file, for messages
 * @throws {SyntaxError} if it is torn, is no safetensors file, or holds tensors that are not F32
 */
export function decodeSafetensors(bytes: Uint8Array, name: string): SafetensorsFile {
  const refuse = (reason: string): never => {
    throw new SyntaxError(`Cannot read ${name} as a safetensors file: ${reason}`);
  };
  if (bytes.length < LENGTH_BYTES) refuse(`it has ${bytes.length} bytes, and its header's length alone takes 8`);
  const headerBytes = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true);
  if (headerBytes > BigInt(Math.min(MOST_HEADER_BYTES, bytes.length - LENGTH_BYTES))) {
    refuse(`its header claims ${headerBytes} bytes of a file of ${bytes.length}; the file is torn or of another kind`);
  }
  const start = LENGTH_BYTES + Number(headerBytes);
  const header = parseHeader(bytes.subarray(LENGTH_BYTES, start), refuse);
  const tensors = new Map<string, Float32Tensor>();
  const spans: [number, number][] = [];
  for (const [tensor, entry] of Object.entries(header)) {
    if (tensor === "__metadata__") continue;
    const { shape, begin, end } = checkedEntry(tensor, entry, bytes.length - start, refuse);
    spans.push([begin, end]);
    // A copy: the numbers of a foreign file need not be aligned.
    const copy = new Uint8Array(bytes.subarray(start + begin, start + end));
    tensors.set(tensor, { shape, values: new Float32Array(copy.buffer) });
  }
  checkCoverage(spans, bytes.length - start, refuse);
  return { tensors, metadata: checkedMetadata(header.__metadata__, refuse) };
}

type Refuse = (reason: string) => never;

function parseHeader(bytes: Uint8Array, refuse: Refuse): Record<string, unknown> {
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return refuse("its header is not JSON"); // whatever the parser found, the file is of another kind
  }
  return isRecord(header) ? header : refuse("its header is not a JSON object");
}

function checkedEntry(
  tensor: string,
  entry: unknown,
  dataBytes: number,
  refuse: Refuse,
): { shape: number[]; begin: number; end: number } {
  if (!isRecord(entry)) return refuse(`tensor "${tensor}" has no description`);
  const { dtype, shape, data_offsets: offsets } = entry;
  if (dtype !== "F32") return refuse(`tensor "${tensor}" is ${JSON.stringify(dtype)}; only F32 is supported`);
  if (!Array.isArray(shape) || !shape.every(isCount)) return refuse(`tensor "${tensor}" has no shape`);
  if (!Array.isArray(offsets) || offsets.length !== 2 || !offsets.every(isCount)) {
    return refuse(`tensor "${tensor}" has no data_offsets`);
  }
  const [begin, end] = offsets;
  const expected = 4 * shape.reduce((product, length) => product * length, 1);
  if (begin > end || end > dataBytes) {
    return refuse(`tensor "${tensor}" lies at bytes ${begin} to ${end} of ${dataBytes}; the file is torn`);
  }
  if (end - begin !== expected) {
    return refuse(`tensor "${tensor}" of shape [${shape}] has ${end - begin} bytes instead of ${expected}`);
  }
  return { shape, begin, end };
}

/** The format allows neither gaps nor overlaps: whatever hides in them is not ours. */
function checkCoverage(spans: [number, number][], dataBytes: number, refuse: Refuse): void {
  let covered = 0;
  for (const [begin, end] of spans.sort(([a, b], [c, d]) => a - c || b - d)) {
    if (begin !== covered) refuse(`its tensors leave a gap or overlap at byte ${covered}`);
    covered = end;
  }
  if (covered !== dataBytes) refuse(`${dataBytes - covered} bytes behind its last tensor belong to nothing`);
}

function checkedMetadata(metadata: unknown, refuse: Refuse): Record<string, string> {
  if (metadata === undefined) return {};
  if (!isRecord(metadata)) return refuse("its metadata are not a JSON object");
  const result: Record<string, string> = {};
  for (const [key, value] of Object.entries(metadata)) {
    if (typeof value !== "string") return refuse(`its metadata "${key}" are not a text`);
    result[key] = value;
  }
  return result;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
