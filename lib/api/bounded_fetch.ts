/** A server's reply was longer than any reply should be. */
export class ReplyTooLongError extends Error {
  override name = "ReplyTooLongError";
  /** @param maxBytes the bound that was passed */
  constructor(readonly maxBytes: number) {
    super(`the reply is longer than ${maxBytes} bytes`);
  }
}

/** A `fetch` whose response bodies fail with {@link ReplyTooLongError} behind `maxBytes`, instead of filling the memory. */
export function boundedFetch(maxBytes: number): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (response.body === null) return response;
    let received = 0;
    const bound = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform: (chunk, controller) => {
        received += chunk.byteLength;
        if (received > maxBytes) controller.error(new ReplyTooLongError(maxBytes));
        else controller.enqueue(chunk);
      },
    });
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(bound), { status, statusText, headers });
  };
}
