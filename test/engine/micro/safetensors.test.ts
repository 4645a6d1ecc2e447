import { expect, test } from "vitest";
import { decodeSafetensors, encodeSafetensors } from "../../../lib/engine/micro/safetensors.ts";

const file = encodeSafetensors({
  tensors: new Map([
    ["a", { shape: [2, 3], values: Float32Array.of(1, 2, 3, 4, 5, -6.5) }],
    ["b", { shape: [1], values: Float32Array.of(7) }],
  ]),
  metadata: { format: "test" },
});

test("decodeSafetensors() reads what the reference implementation writes", () => {
  // safetensors.numpy.save({"x": np.arange(3, dtype="float32")}, {"k": "v"}), safetensors 0.6
  const header = '{"__metadata__":{"k":"v"},"x":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}}';
  const { tensors, metadata } = decodeSafetensors(
    withHeader(header, new Uint8Array(Float32Array.of(0, 1, 2).buffer)),
    "x",
  );
  expect(tensors.get("x")).toEqual({ shape: [3], values: Float32Array.of(0, 1, 2) });
  expect(metadata).toEqual({ k: "v" });
});

test("encodeSafetensors() writes the format: length, JSON header, aligned numbers", () => {
  const length = Number(new DataView(file.buffer).getBigUint64(0, true));
  expect(length % 8).toBe(0);
  expect(JSON.parse(new TextDecoder().decode(file.subarray(8, 8 + length)))).toEqual({
    __metadata__: { format: "test" },
    a: { dtype: "F32", shape: [2, 3], data_offsets: [0, 24] },
    b: { dtype: "F32", shape: [1], data_offsets: [24, 28] },
  });
  expect(new DataView(file.buffer).getFloat32(8 + length + 20, true)).toBe(-6.5);
});

test("decodeSafetensors() inverts encodeSafetensors(), from any offset of a buffer", () => {
  const shifted = new Uint8Array(file.length + 3);
  shifted.set(file, 3);
  for (const bytes of [file, shifted.subarray(3)]) {
    const { tensors, metadata } = decodeSafetensors(bytes, "x");
    expect([...tensors]).toEqual([
      ["a", { shape: [2, 3], values: Float32Array.of(1, 2, 3, 4, 5, -6.5) }],
      ["b", { shape: [1], values: Float32Array.of(7) }],
    ]);
    expect(metadata).toEqual({ format: "test" });
  }
});

test("decodeSafetensors() refuses every file that was cut off", () => {
  for (let length = 0; length < file.length; length++) {
    expect(() => decodeSafetensors(file.subarray(0, length), "torn.safetensors"), String(length)).toThrow(
      /Cannot read torn.safetensors as a safetensors file/,
    );
  }
});

test.each([
  ["a header as long as memory", () => withLength(2n ** 63n), /header claims 9223372036854775808 bytes/],
  ["text", () => new TextEncoder().encode("version https://git-lfs.github.com/spec/v1"), /header claims/],
  ["a header that is no JSON", () => withHeader("{"), /not JSON/],
  ["a header that is no object", () => withHeader("[]"), /not a JSON object/],
  ["other number types", () => withHeader(entry({ dtype: "BF16" })), /is "BF16"; only F32/],
  ["a negative size", () => withHeader(entry({ shape: [-1] })), /has no shape/],
  ["a size that overflows", () => withHeader(entry({ shape: [2 ** 52, 2 ** 52] })), /has 4 bytes instead of/],
  ["offsets behind the end", () => withHeader(entry({ data_offsets: [4, 8] })), /lies at bytes 4 to 8 of 4/],
  ["offsets in the wrong order", () => withHeader(entry({ data_offsets: [4, 0] })), /lies at bytes 4 to 0/],
  ["offsets that are no numbers", () => withHeader(entry({ data_offsets: ["0", 4] })), /has no data_offsets/],
  ["bytes that belong to nothing", () => withHeader(entry({}), new Uint8Array(8)), /4 bytes behind its last tensor/],
  ["overlapping tensors", () => withHeader(`${entry({}).slice(0, -1)},"y":${entry({}).slice(5)}`), /gap or overlap/],
  ["metadata that are no text", () => withHeader(`{"__metadata__":{"k":1},${entry({}).slice(1)}`), /not a text/],
])("decodeSafetensors() refuses %s", (_, bytes, message) => {
  expect(() => decodeSafetensors(bytes(), "x")).toThrow(SyntaxError);
  expect(() => decodeSafetensors(bytes(), "x")).toThrow(message);
});

function entry(changes: Record<string, unknown>): string {
  return JSON.stringify({ x: { dtype: "F32", shape: [1], data_offsets: [0, 4], ...changes } });
}

function withHeader(header: string, data: Uint8Array = new Uint8Array(4)): Uint8Array {
  const text = new TextEncoder().encode(header);
  const bytes = new Uint8Array(8 + text.length + data.length);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(text.length), true);
  bytes.set(text, 8);
  bytes.set(data, 8 + text.length);
  return bytes;
}

function withLength(length: bigint): Uint8Array {
  const bytes = new Uint8Array(64);
  new DataView(bytes.buffer).setBigUint64(0, length, true);
  return bytes;
}
