import type { FieldPath } from './config';

const SEGMENT = /^(\*|[^\s.[\]"'\\]+)$/;

/**
 * Reads `payload.customer.email`, `headers.authorization`, `payload.items[*].price` or `items.0.price` (payload is
 * meant when neither is named); null when it cannot be read.
 */
export function parseFieldPath(text: string): FieldPath | null {
  const segments = text
    .trim()
    .replace(/^\$\.?/, '')
    .replace(/\[(\*|\d+)\]/g, '.$1')
    .split('.');
  const first = segments[0];
  const place = first === 'payload' || first === 'headers' ? first : null;
  const path = place === null ? segments : segments.slice(1);
  if (path.length === 0 || path.length > 32 || !path.every((segment) => SEGMENT.test(segment))) return null;
  return { in: place ?? 'payload', path };
}
