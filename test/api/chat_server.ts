import { Hono } from "hono";
import { z } from "zod";

const chatRequest = z.looseObject({
  model: z.string(),
  messages: z.array(z.object({ role: z.string(), content: z.string() })),
  stop: z.array(z.string()).optional(),
  seed: z.number().optional(),
});

/** What a client posted. */
export type PostedRequest = z.infer<typeof chatRequest> & Record<string, unknown>;

/** What the server does with a request. */
export type Step =
  | {
    kind: "reply";
    content: string | null;
    finish?: string;
    refusal?: string;
    usage?: [input: number, output: number] | null;
    extra?: Record<string, unknown>;
  }
  | { kind: "status"; status: number; message?: string; headers?: Record<string, string> }
  | { kind: "raw"; body: string; type?: string }
  | { kind: "hang" };

/** A running scripted server. */
export interface ChatServer extends AsyncDisposable {
  /** With the path `/v1`. */
  baseUrl: string;
  /** Bodies of all requests so far. */
  requests: PostedRequest[];
  /** Headers of all requests so far. */
  headers: Headers[];
  /** Most requests that were under way at a time. */
  mostAtOnce: number;
}

/** A usual reply; usage is 10 tokens in and 5 out. */
export function reply(content: string, more: Partial<Extract<Step, { kind: "reply" }>> = {}): Step {
  return { kind: "reply", content, ...more };
}

/** An error that asks for a retry after a millisecond. */
export function failure(status: number): Step {
  return { kind: "status", status, headers: { "retry-after-ms": "1" } };
}

/**
 * A chat-completions server on loopback that follows a script: a list of steps, the last of which repeats, or a function
 * of the request and its number (from 0). Use with `await using`.
 */
export function chatServer(
  script: readonly Step[] | ((request: PostedRequest, index: number) => Step | Promise<Step>),
): ChatServer {
  const requests: PostedRequest[] = [];
  const headers: Headers[] = [];
  const closing = new AbortController();
  const isClosing = new Promise<void>((resolve) => closing.signal.addEventListener("abort", () => resolve()));
  let underWay = 0;
  const app = new Hono();
  app.post("/v1/chat/completions", async (context) => {
    const request = chatRequest.parse(await context.req.json());
    const index = requests.push(request) - 1;
    headers.push(context.req.raw.headers);
    server.mostAtOnce = Math.max(server.mostAtOnce, ++underWay);
    try {
      const step = Array.isArray(script)
        ? script[Math.min(index, script.length - 1)]
        : await (script as (request: PostedRequest, index: number) => Step)(request, index);
      if (step.kind === "hang") await isClosing;
      return perform(step, request);
    } finally {
      underWay--;
    }
  });
  const http = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, app.fetch);
  const server: ChatServer = {
    baseUrl: `http://127.0.0.1:${http.addr.port}/v1`,
    requests,
    headers,
    mostAtOnce: 0,
    [Symbol.asyncDispose]: async () => {
      closing.abort();
      await http.shutdown();
    },
  };
  return server;
}

function perform(step: Step, request: PostedRequest): Response {
  if (step.kind === "hang") return new Response(null, { status: 503 });
  if (step.kind === "raw") {
    return new Response(step.body, { headers: { "content-type": step.type ?? "application/json" } });
  }
  if (step.kind === "status") {
    return Response.json({ error: { message: step.message ?? `scripted ${step.status}` } }, {
      status: step.status,
      headers: step.headers,
    });
  }
  const usage = step.usage === undefined ? [10, 5] : step.usage;
  return Response.json({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 0,
    model: `${request.model}-2026`,
    choices: [{
      index: 0,
      message: { role: "assistant", content: step.content, refusal: step.refusal ?? null },
      finish_reason: step.finish ?? "stop",
      ...step.extra,
    }],
    ...(usage === null
      ? {}
      : { usage: { prompt_tokens: usage[0], completion_tokens: usage[1], total_tokens: usage[0] + usage[1] } }),
  });
}
