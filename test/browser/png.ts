import { inflateSync } from "node:zlib";

/** Pixels of a picture, row by row, `channels` bytes each. */
export interface Picture {
  width: number;
  height: number;
  channels: number;
  pixels: Uint8Array;
}

/** Decodes a PNG of 8-bit RGB or RGBA without interlacing, as Chromium writes it. @throws {TypeError} on another kind */
export function decodePng(bytes: Uint8Array): Picture {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint32(0) !== 0x89504e47) throw new TypeError("Cannot decode the picture: it is not a PNG");
  const [width, height, depth, colour, interlaced] = [
    view.getUint32(16),
    view.getUint32(20),
    bytes[24],
    bytes[25],
    bytes[28],
  ];
  if (depth !== 8 || (colour !== 2 && colour !== 6) || interlaced !== 0) {
    throw new TypeError(`Cannot decode a PNG with depth ${depth}, colour type ${colour}, interlacing ${interlaced}`);
  }
  const parts: Uint8Array[] = [];
  for (let at = 8; at < bytes.length;) {
    const length = view.getUint32(at);
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    if (type === "IDAT") parts.push(bytes.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  const channels = colour === 2 ? 3 : 4;
  return {
    width,
    height,
    channels,
    pixels: unfilter(new Uint8Array(inflateSync(concatenate(parts))), width * channels, height, channels),
  };
}

/** Mean of the colour channels over all pixels, in [0, 1]. */
export function meanLightness({ pixels, channels }: Picture): number {
  let sum = 0;
  for (let i = 0; i < pixels.length; i += channels) sum += pixels[i] + pixels[i + 1] + pixels[i + 2];
  return sum / (pixels.length / channels) / (3 * 255);
}

/** Number of different colours. */
export function colourCount({ pixels, channels }: Picture): number {
  const colours = new Set<number>();
  for (let i = 0; i < pixels.length; i += channels) {
    colours.add((pixels[i] << 16) | (pixels[i + 1] << 8) | pixels[i + 2]);
  }
  return colours.size;
}

/** Undoes the filters of PNG, §9. */
function unfilter(data: Uint8Array, stride: number, height: number, channels: number): Uint8Array {
  const pixels = new Uint8Array(stride * height);
  for (let row = 0; row < height; row++) {
    const filter = data[row * (stride + 1)];
    const start = row * stride;
    for (let i = 0; i < stride; i++) {
      const left = i >= channels ? pixels[start + i - channels] : 0;
      const up = row > 0 ? pixels[start + i - stride] : 0;
      const corner = i >= channels && row > 0 ? pixels[start + i - stride - channels] : 0;
      const predicted = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter];
      pixels[start + i] = data[row * (stride + 1) + 1 + i] + predicted;
    }
  }
  return pixels;
}

function paeth(left: number, up: number, corner: number): number {
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
  if (a <= b && a <= c) return left;
  return b <= c ? up : corner;
}

function concatenate(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
