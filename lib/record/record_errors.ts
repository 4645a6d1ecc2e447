/** What a user can do about a failed write, by the operating system's code. */
const REMEDIES: Readonly<Record<string, readonly [what: string, remedy: string]>> = {
  ENOSPC: ["no space is left on the device", "Free space"],
  EDQUOT: ["the disk quota is used up", "Free space or have the quota raised"],
  EROFS: ["the file system is read-only", "Make it writable"],
  EACCES: ["permission was denied", "Make the folder writable"],
  EPERM: ["permission was denied", "Make the folder writable"],
  EIO: ["the device reported an error", "Check the disk"],
  EMFILE: ["too many files are open", "Raise the limit (ulimit -n)"],
  ENFILE: ["too many files are open on this machine", "Close other programs"],
  ENAMETOOLONG: ["the name is too long", "Choose shorter names or another --out"],
  EISDIR: ["a folder is in the file's place", "Move it away"],
  ENOTDIR: ["a file is in a folder's place", "Move it away"],
};

/** A record could not be written. What was written before is intact: a run resumes from its last checkpoint. */
export class RecordWriteError extends Error {
  override name = "RecordWriteError";
  /**
   * @param path what was being written
   * @param code the operating system's code, such as `ENOSPC`
   */
  constructor(readonly path: string, readonly code: string, options?: ErrorOptions) {
    const [what, remedy] = REMEDIES[code] ?? ["the operating system refused", "Remove the cause"];
    super(
      `Cannot write ${JSON.stringify(path)}: ${what} (${code}). ` +
        `${remedy} and run the same command again; it resumes from the last checkpoint`,
      options,
    );
  }
}

/** A record could not be read: it is damaged, or of another version. */
export class RecordReadError extends Error {
  override name = "RecordReadError";
  /**
   * @param path what was being read
   * @param line number of the line, from 1; null where the file is not made of lines
   * @param problem what is wrong and, where there is something, what to do
   */
  constructor(readonly path: string, readonly line: number | null, problem: string, options?: ErrorOptions) {
    super(`Cannot read ${JSON.stringify(path)}${line === null ? "" : `, line ${line}`}: ${problem}`, options);
  }
}

/** The operating system's code of an error, such as `ENOENT`, or null. */
export function systemCode(error: unknown): string | null {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  return typeof code === "string" && /^E[A-Z]+$/.test(code) ? code : null;
}

/** An error of the operating system as a {@link RecordWriteError}; others, and those that are one, as they are. */
export function asWriteError(path: string, error: unknown): unknown {
  const code = systemCode(error);
  if (error instanceof RecordWriteError || code === null) return error;
  return new RecordWriteError(path, code, { cause: error });
}
