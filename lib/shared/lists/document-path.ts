/** Steps to a place in a document, from its root. */
export type Path = readonly PropertyKey[];

/** Formats e.g. `outboxes[2].table`; the root is `(file)`. */
export function formatPath(path: Path): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else if (/^[A-Za-z_][\w-]*$/.test(String(part))) text += text === '' ? String(part) : `.${String(part)}`;
    else text += `[${JSON.stringify(String(part))}]`;
  }
  return text === '' ? '(file)' : text;
}

/** Parses e.g. `payload.customer.email`, `items.*.price`, `["a.b"].c`; drops a leading `payload` or `$`. */
export function pathSteps(path: string): string[] {
  const steps = rawSteps(path);
  return steps[0] === 'payload' || steps[0] === '$' ? steps.slice(1) : steps;
}

/** Where a path of the configuration leads: which document, and its steps there. */
export function contentPath(path: string): { content: 'payload' | 'headers'; steps: string[] } {
  const [root, ...rest] = rawSteps(path);
  return root === 'headers' ? { content: 'headers', steps: rest } : { content: 'payload', steps: pathSteps(path) };
}

/** All steps as written, without quotes and brackets. */
export function rawSteps(path: string): string[] {
  return [...path.matchAll(/\[\s*"([^"]*)"\s*\]|\[\s*'([^']*)'\s*\]|\[\s*(\*|\d+)\s*\]|([^.[\]]+)/g)].map(
    (match) => match[1] ?? match[2] ?? match[3] ?? match[4] ?? '',
  );
}
