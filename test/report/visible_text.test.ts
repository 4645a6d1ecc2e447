import { expect, test } from "vitest";
import { oneLine, shortText, visibleText } from "../../lib/report/visible_text.ts";

test("visibleText() names what a terminal or a browser would obey or hide", () => {
  expect(visibleText("a\u0000b\u001b[31m\u202ec\u200bd\u0085\ufeff")).toBe(
    "a[U+0000]b[U+001B][31m[U+202E]c[U+200B]d[U+0085][U+FEFF]",
  );
  expect(visibleText("tag \u{e0041}")).toBe("tag [U+E0041]");
});

test("visibleText() leaves no control or directional character for any code point below U+3000", () => {
  for (let code = 0; code < 0x3000; code++) {
    expect(visibleText(`x${String.fromCodePoint(code)}y`)).not.toMatch(
      /(?![\n\t])\p{Cc}|\p{Bidi_Control}/u,
    );
  }
});

test("visibleText() keeps lines, tabs, scripts and emoji, and repairs lone surrogates", () => {
  expect(visibleText("a\r\nb\rc\u2028d\te")).toBe("a\nb\nc\nd\te");
  for (const text of ["naïve ابحث 先搜索 👩‍🔬", "می‌خواهم"]) expect(visibleText(text)).toBe(text);
  expect(visibleText("\ud800x")).toBe("\ufffdx");
});

test("shortText() cuts between graphemes and keeps what fits", () => {
  expect(shortText("short", 5)).toBe("short");
  expect(shortText("a b\nc d e", 6)).toBe("a b c…");
  expect(shortText("👩‍🔬👩‍🔬👩‍🔬", 2)).toBe("👩‍🔬…");
  expect(oneLine("  a\n\n b\t")).toBe("a b");
});
