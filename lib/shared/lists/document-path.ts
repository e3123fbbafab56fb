/** A place in a document, from its root. */
export type Path = readonly PropertyKey[];

/** `outboxes[2].table`; the whole file is `(file)`. */
export function formatPath(path: Path): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else if (/^[A-Za-z_][\w-]*$/.test(String(part))) text += text === '' ? String(part) : `.${String(part)}`;
    else text += `[${JSON.stringify(String(part))}]`;
  }
  return text === '' ? '(file)' : text;
}
