import { rawSteps } from '@/lib/shared/lists/document-path';

/** Keys that are hidden from roles without `payload:unmask` even when no path names them. */
export const SENSITIVE_KEYS =
  'pass(?:word|wd|phrase)?|secret|client_?secret|token|(?:access|refresh|id)_?token|api_?key|authorization|cookie|cvv2?|cvc|pan|card_?number|iban|ssn|e_?mail|phone(?:_?number)?|private_?key';
const SENSITIVE_KEY = new RegExp(`^(?:${SENSITIVE_KEYS})$`, 'i');

export const isSensitive = (key: string): boolean => SENSITIVE_KEY.test(key);

/** The paths of the configuration that speak of this column. A path without `payload` or `headers` in front speaks of both. */
export function maskedPaths(mask: readonly string[], role: 'payload' | 'headers'): string[][] {
  return mask.flatMap((text) => {
    const steps = rawSteps(text.replace(/^\$\.?/, ''));
    if (steps[0] === role) return [steps.slice(1)];
    return steps[0] === 'payload' || steps[0] === 'headers' ? [] : [steps];
  });
}

/** What is left of a path after one step into a document; `*` stands for every key or index, `**` for any depth. */
export function advance(path: string[], key: string): string[][] {
  const [head, ...rest] = path;
  if (head === undefined) return [];
  if (head === '**') return [path, ...advance(rest, key)];
  return head === '*' || head === key ? [rest] : [];
}

/** Whether the value at these steps is hidden, or one that it holds by name. */
export function hidesPath(mask: readonly string[], role: 'payload' | 'headers', steps: string[]): boolean {
  let active = maskedPaths(mask, role);
  for (const step of steps) {
    if (isSensitive(step) || active.some((path) => path.length === 0)) return true;
    active = active.flatMap((path) => advance(path, step));
  }
  return active.some((path) => path[0] !== '**');
}
