import process from "node:process";

/** Where a chat-completions server listens, and with which key. */
export interface Endpoint {
  /** Without trailing slash, e.g. `http://127.0.0.1:8000/v1`. */
  baseUrl: string;
  apiKey: string;
}

const OPENAI_BASE_URL = "https://api.openai.com/v1";

/**
 * The server to call: what is given, else `OPENAI_BASE_URL` and `OPENAI_API_KEY`, else OpenAI's own address. A server
 * on this machine needs no key.
 *
 * @throws {TypeError} if the address is no HTTP URL, or the key is missing
 */
export function resolveEndpoint(model: string, given: Partial<Endpoint>): Endpoint {
  const baseUrl = (given.baseUrl ?? (process.env.OPENAI_BASE_URL?.trim() || OPENAI_BASE_URL)).replace(/\/+$/, "");
  const url = URL.parse(baseUrl);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new TypeError(
      `Cannot call "${model}" at "${baseUrl}": not an HTTP address; give one like "http://127.0.0.1:8000/v1"`,
    );
  }
  const apiKey = given.apiKey ?? process.env.OPENAI_API_KEY?.trim() ?? "";
  if (apiKey !== "") return { baseUrl, apiKey };
  if (isLoopback(url.hostname)) return { baseUrl, apiKey: "none" };
  throw new TypeError(
    `Cannot call "${model}" at ${url.origin}: there is no API key; set the environment variable OPENAI_API_KEY ` +
      "(to any text if this server needs none)",
  );
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
}
