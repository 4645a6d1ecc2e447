import { expect, test } from "vitest";
import { PALETTE, seriesColour, seriesDash, TONE_COLOURS } from "../../../lib/report/plots/palette.ts";

type Triple = readonly [number, number, number];

function linear(hex: string): Triple {
  const channel = (at: number) => {
    const value = parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [channel(1), channel(3), channel(5)];
}

function contrast(a: string, b: string): number {
  const luminance = (hex: string) => {
    const [red, green, blue] = linear(hex);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

/** Machado, Oliveira and Fernandes 2009, severity 1. */
const VISIONS: Readonly<Record<string, readonly Triple[]>> = {
  full: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

/** OKLab (Ottosson 2020) of a colour as somebody sees it. */
function seen(hex: string, vision: readonly Triple[]): Triple {
  const rgb = linear(hex);
  const [r, g, b] = vision.map((row) => Math.max(0, row[0] * rgb[0] + row[1] * rgb[1] + row[2] * rgb[2]));
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

test.each(["light", "dark"] as const)("PALETTE has a contrast of 3 : 1, texts of 4.5 : 1, on a %s page", (scheme) => {
  const { paper, ...texts } = TONE_COLOURS[scheme];
  for (const colour of PALETTE[scheme]) expect(contrast(colour, paper)).toBeGreaterThan(3);
  for (const colour of Object.values(texts)) expect(contrast(colour, paper)).toBeGreaterThan(4.5);
});

test.each(["light", "dark"] as const)("PALETTE's colours stay apart for the colour-blind on a %s page", (scheme) => {
  for (const vision of Object.values(VISIONS)) {
    const colours = PALETTE[scheme].map((hex) => seen(hex, vision));
    for (const [index, a] of colours.entries()) {
      for (const b of colours.slice(index + 1)) {
        expect(Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2])).toBeGreaterThan(0.09);
      }
    }
  }
});

test("seriesColour() and seriesDash() together tell thirty series apart", () => {
  const looks = Array.from({ length: 30 }, (_, index) => `${seriesColour(index)} ${seriesDash(index)}`);
  expect(new Set(looks).size).toBe(30);
  expect(new Set(looks.slice(0, 6).map((look) => look.split(" ").slice(1).join())).size).toBe(6);
});
