import type { Engine } from "./engine.ts";

/** What an engine's calls have cost since the last reading. */
export interface EngineCost {
  /** Wall seconds inside engine calls. */
  seconds: number;
  /** Tokens generated. */
  tokens: number;
}

/** An engine whose expensive calls are timed; `takeCost` reads the meter and sets it back. */
export function timedEngine(engine: Engine): { engine: Engine; takeCost(): EngineCost } {
  let cost: EngineCost = { seconds: 0, tokens: 0 };
  const timed = async <T>(call: () => Promise<T>): Promise<T> => {
    const start = performance.now();
    try {
      return await call();
    } finally {
      cost.seconds += (performance.now() - start) / 1000;
    }
  };
  return {
    engine: {
      info: engine.info,
      encode: (text) => engine.encode(text),
      decode: (tokens) => engine.decode(tokens),
      sample: async (prompts, options) => {
        const samples = await timed(() => engine.sample(prompts, options));
        for (const sample of samples.flat()) cost.tokens += sample.tokens.length;
        return samples;
      },
      logprobs: (sequences, snapshot) => timed(() => engine.logprobs(sequences, snapshot)),
      snapshot: (name) => timed(() => engine.snapshot(name)),
      forwardBackward: (batch, loss) => timed(() => engine.forwardBackward(batch, loss)),
      optimStep: (options) => timed(() => engine.optimStep(options)),
      save: (path) => engine.save(path),
      load: (path) => engine.load(path),
      close: () => engine.close(),
    },
    takeCost: () => {
      const taken = cost;
      cost = { seconds: 0, tokens: 0 };
      return taken;
    },
  };
}
