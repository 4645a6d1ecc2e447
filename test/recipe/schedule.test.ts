import { expect, test } from "vitest";
import { type Running, schedule } from "../../lib/recipe/schedule.ts";

/** Tasks that end when the test says so. */
function controlledTasks(): {
  start(name: string): Running<string>;
  end(name: string): Promise<void>;
  started: string[];
  stopped: string[];
} {
  const started: string[] = [];
  const stopped: string[] = [];
  const ends = new Map<string, (result: string) => void>();
  return {
    start: (name) => {
      started.push(name);
      return {
        result: new Promise((resolve) => ends.set(name, resolve)),
        stop: () => void stopped.push(name),
      };
    },
    end: async (name) => {
      ends.get(name)?.(`${name} ended`);
      await new Promise((resolve) => setTimeout(resolve));
    },
    started,
    stopped,
  };
}

test("schedule() runs at most `jobs` items at once, in order, and gives results in the order of the items", async () => {
  const tasks = controlledTasks();
  const { results } = schedule(["a", "b", "c", "d"], 2, tasks.start);
  expect(tasks.started).toEqual(["a", "b"]);
  await tasks.end("b");
  expect(tasks.started).toEqual(["a", "b", "c"]);
  await tasks.end("c");
  await tasks.end("d");
  await tasks.end("a");
  expect(await results).toEqual(["a ended", "b ended", "c ended", "d ended"]);
});

test("schedule() starts nothing after stop, asks what runs to stop and still waits for it", async () => {
  const tasks = controlledTasks();
  const { results, stop } = schedule(["a", "b", "c", "d"], 2, tasks.start);
  await tasks.end("a");
  stop();
  expect(tasks.stopped).toEqual(["b", "c"]);
  stop();
  expect(tasks.stopped).toEqual(["b", "c", "b", "c"]);
  await tasks.end("b");
  await tasks.end("c");
  expect(await results).toEqual(["a ended", "b ended", "c ended", undefined]);
  expect(tasks.started).toEqual(["a", "b", "c"]);
});

test("schedule() does not ask what has ended to stop", async () => {
  const tasks = controlledTasks();
  const { results, stop } = schedule(["a", "b"], 2, tasks.start);
  await tasks.end("a");
  stop();
  expect(tasks.stopped).toEqual(["b"]);
  await tasks.end("b");
  expect(await results).toEqual(["a ended", "b ended"]);
});

test("schedule() of nothing, or with more jobs than items, ends", async () => {
  expect(await schedule([], 4, controlledTasks().start).results).toEqual([]);
  const tasks = controlledTasks();
  const { results } = schedule(["a"], 16, tasks.start);
  await tasks.end("a");
  expect(await results).toEqual(["a ended"]);
});
