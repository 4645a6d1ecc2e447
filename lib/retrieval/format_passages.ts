import { firstLine, textOf } from "./document.ts";
import type { RetrievedDocument } from "./retriever.ts";

/**
 * What Search-R1's policy reads between `<information>` and `</information>`, before it is stripped: one
 * `Doc 1(Title: "Title") text` line for each document. The title keeps its double quotes (Search-R1, `generation.py`,
 * `_passages2string`).
 */
export function formatPassages(documents: readonly Pick<RetrievedDocument, "document">[]): string {
  return documents.map(({ document }, i) =>
    `Doc ${i + 1}(Title: ${firstLine(document.contents)}) ${textOf(document)}\n`
  ).join("");
}
