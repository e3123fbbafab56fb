import { REASON_MAX, REASON_MIN } from '@/lib/shared/model';

const STORAGE_KEY = 'outbox-console.reasons';
const KEPT = 5;

/** The reasons this person gave last, newest first. Empty where the browser keeps nothing. */
export function recentReasons(): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '[]');
    return Array.isArray(kept) ? kept.filter((reason) => typeof reason === 'string').slice(0, KEPT) : [];
  } catch {
    return [];
  }
}

export function rememberReason(reason: string): void {
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify([reason, ...recentReasons().filter((other) => other !== reason)].slice(0, KEPT)));
  } catch {
    // Private windows may refuse storage; the offer is a comfort only.
  }
}

/** The reason as it is sent, or null while it is too short or too long. */
export function acceptedReason(text: string): string | null {
  const reason = text.trim();
  return reason.length >= REASON_MIN && reason.length <= REASON_MAX ? reason : null;
}
