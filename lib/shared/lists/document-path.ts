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

/** Steps of a path such as `payload.customer.email`, `items.*.price`, `["a.b"].c`; a leading `payload` or `$` is dropped. */
export function pathSteps(path: string): string[] {
  const steps = rawSteps(path);
  return steps[0] === 'payload' || steps[0] === '$' ? steps.slice(1) : steps;
}

/** Every step as written, quotes and brackets resolved. */
export function rawSteps(path: string): string[] {
  return [...path.matchAll(/\[\s*"([^"]*)"\s*\]|\[\s*'([^']*)'\s*\]|\[\s*(\*|\d+)\s*\]|([^.[\]]+)/g)].map(
    (match) => match[1] ?? match[2] ?? match[3] ?? match[4] ?? '',
  );
}
