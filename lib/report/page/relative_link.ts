/**
 * A file's path as a link relative to the page. Every segment is encoded, and the link begins with `./`, so that no name
 * can become a scheme, a query or a fragment.
 *
 * @throws {RangeError} on an absolute path
 */
export function relativeLink(path: string): string {
  if (/^([/\\]|[A-Za-z]:[/\\])/.test(path)) {
    throw new RangeError(`Cannot link to "${path}" from a report: the path must be relative to the page's folder`);
  }
  return `./${path.toWellFormed().split("/").map(encodeURIComponent).join("/")}`;
}
