/**
 * Steps of a configured path into a payload or headers: `payload.customer.email`, `$.customer.email`, `items.*.price`,
 * `["a.b"].c`. A leading `payload` or `$` is dropped.
 */
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
