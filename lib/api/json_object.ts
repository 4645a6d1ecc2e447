/** Opening braces that may lead nowhere before a text counts as holding no JSON; keeps the search linear in practice. */
const MAX_FALSE_STARTS = 64;

/**
 * The JSON objects in a text that may have prose, code fences or reasoning around them, from left to right. Objects
 * inside an object that was found are not searched for.
 */
export function* jsonObjects(text: string): Generator<unknown, void, void> {
  let falseStarts = 0;
  let start = text.indexOf("{");
  while (start >= 0 && falseStarts < MAX_FALSE_STARTS) {
    const end = objectEnd(text, start);
    const object = end === null ? undefined : parseOrUndefined(text.slice(start, end));
    if (object === undefined) falseStarts++;
    else yield object;
    start = text.indexOf("{", object === undefined || end === null ? start + 1 : end);
  }
}

/** Index behind the brace that closes the one at `start`, or null; braces inside strings do not count. */
function objectEnd(text: string, start: number): number | null {
  let depth = 0;
  let isInString = false;
  for (let i = start; i < text.length; i++) {
    const character = text[i];
    if (isInString) {
      if (character === "\\") i++;
      else if (character === '"') isInString = false;
    } else if (character === '"') isInString = true;
    else if (character === "{") depth++;
    else if (character === "}" && --depth === 0) return i + 1;
  }
  return null;
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Braces that enclose no JSON are ordinary prose.
    return undefined;
  }
}
