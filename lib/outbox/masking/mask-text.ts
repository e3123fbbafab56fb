import { CARD_DIGITS, MASK } from '@/lib/shared/lists/shown';
import { SENSITIVE_KEYS } from '@/lib/shared/lists/masked-paths';

const EMAIL = /[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/gu;
const IBAN = /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}\b/g;
const JWT = /\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]*/g;
/** A sensitive key with its value, as JSON, query strings and settings write it: `"token":"…"`, `password=…`. */
const QUOTED = new RegExp(
  `((?<![a-z\\d_-])\\\\?["'](?:${SENSITIVE_KEYS})\\\\?["']\\s*[:=]\\s*)(\\\\"[^"]*"?|"(?:[^"\\\\]|\\\\.)*"?|'[^']*'?|[^\\s,;&}\\]]+)`,
  'gi',
);
const ASSIGNED = new RegExp(`((?<![a-z\\d_-])(?:${SENSITIVE_KEYS})=)("[^"]*"?|'[^']*'?|[^\\s,;&)\\]}]+)`, 'gi');

/** Free text with everything masked that looks like personal data or a secret; no path can be configured for it. */
export function maskText(text: string): string {
  return text
    .replace(JWT, MASK)
    .replace(QUOTED, `$1${MASK}`)
    .replace(ASSIGNED, `$1${MASK}`)
    .replace(EMAIL, MASK)
    .replace(IBAN, MASK)
    .replace(CARD_DIGITS, (digits) => (hasCheckDigit(digits.replace(/\D/g, '')) ? MASK : digits));
}

/** Luhn's formula, ISO/IEC 7812-1. */
function hasCheckDigit(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const digit = Number(digits[digits.length - 1 - index]);
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}
