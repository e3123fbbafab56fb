const STEP = String.raw`(?:\*|[^\s.[\]"'\\]+)`;
const BRACKET = String.raw`\[(?:\*|\d+|"[^"]+"|'[^']+')\]`;
const FIELD_PATH = new RegExp(`^(?:\\$|${STEP}|${BRACKET})(?:\\.${STEP}|${BRACKET})*$`);

/** Places that are no field by themselves: a path goes on from them. */
const ROOTS = ['$', 'payload', 'headers'];

/**
 * True for a path into an event: `payload.customer.email`, `headers.authorization`, `payload.items[*].price`,
 * `payload["a.b"].c`; the payload is meant when neither root is named.
 */
export function isFieldPath(text: string): boolean {
  return text.length <= 512 && FIELD_PATH.test(text) && !ROOTS.includes(text);
}
