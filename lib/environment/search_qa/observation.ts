import type { Policy } from "../policy.ts";
import type { SearchQaProtocol } from "./protocol.ts";

const OPEN = "\n\n<information>";
const CLOSE = "</information>\n\n";

/** A tool's reply as the policy reads it, within the protocol's limit of tokens (Search-R1, execute_predictions). */
export async function observationText(passages: string, policy: Policy, protocol: SearchQaProtocol): Promise<string> {
  const whole = OPEN + passages.trim() + CLOSE;
  const cut = await policy.shorten(whole, protocol.maxObservationTokens);
  if (cut === whole || protocol.longObservation === "drop-closing-tag") return cut;
  return await shortenPassages(passages.trim(), policy, protocol.maxObservationTokens);
}

/**
 * Shortens the passages until the closed block fits. How many tokens the tags take is the tokenizer's business, so the
 * share of the passages is found by halving.
 */
async function shortenPassages(passages: string, policy: Policy, maxTokens: number): Promise<string> {
  let fits = 0;
  let tooMany = maxTokens;
  while (tooMany - fits > 1) {
    const middle = (fits + tooMany) >> 1;
    const block = OPEN + (await policy.shorten(passages, middle)).trimEnd() + CLOSE;
    if (await policy.shorten(block, maxTokens) === block) fits = middle;
    else tooMany = middle;
  }
  return OPEN + (fits === 0 ? "" : (await policy.shorten(passages, fits)).trimEnd()) + CLOSE;
}
