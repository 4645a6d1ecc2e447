import { open, rename } from "node:fs/promises";
import { asWriteError } from "./record_errors.ts";

/**
 * Writes a file as a whole: readers see the old text or the new one, never a part, whenever this process is killed.
 *
 * @throws {RecordWriteError}
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  const draft = `${path}.new`;
  try {
    {
      await using file = await open(draft, "w");
      await file.writeFile(text);
      await file.datasync();
    }
    await rename(draft, path);
  } catch (error) {
    throw asWriteError(path, error);
  }
}
