import { rawSteps } from './document-path';

/** Keys hidden from roles without `payload:unmask` even if no path names them. */
export const SENSITIVE_KEYS =
  'pass(?:word|wd|phrase)?|secret|client_?secret|token|(?:access|refresh|id)_?token|api_?key|authorization|cookie|cvv2?|cvc|pan|card_?number|iban|ssn|e_?mail|phone(?:_?number)?|private_?key';
const SENSITIVE_KEY = new RegExp(`^(?:${SENSITIVE_KEYS})$`, 'i');

export const isSensitive = (key: string): boolean => SENSITIVE_KEY.test(key);

/** The configured paths for this column. A path that does not begin with `payload` or `headers` is for both. */
export function maskedPaths(mask: readonly string[], role: 'payload' | 'headers'): string[][] {
  return mask.flatMap((text) => {
    const steps = rawSteps(text.replace(/^\$\.?/, ''));
    if (steps[0] === role) return [steps.slice(1)];
    return steps[0] === 'payload' || steps[0] === 'headers' ? [] : [steps];
  });
}

/** What remains of a path after one step into a document; [] if it leads elsewhere. `*` is any key or index, `**` any depth. */
export function advance(path: string[], key: string): string[][] {
  const [head, ...rest] = path;
  if (head === undefined) return [];
  if (head === '**') return [path, ...advance(rest, key)];
  return head === '*' || head === key ? [rest] : [];
}

/** Whether the value at these steps is hidden, or contains a value that a path names. */
export function hidesPath(mask: readonly string[], role: 'payload' | 'headers', steps: string[]): boolean {
  let active = maskedPaths(mask, role);
  for (const step of steps) {
    if (isSensitive(step) || active.some((path) => path.length === 0)) return true;
    active = active.flatMap((path) => advance(path, step));
  }
  return active.some((path) => path[0] !== '**');
}
