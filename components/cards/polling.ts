/** What a card shows and when it asks for more; knows neither React nor the page. */
import type { Card } from '@/lib/shared/embedding/cards';
import type { CardState, FromFrame } from '@/lib/shared/embedding/messages';
import type { CardView } from '@/lib/shared/embedding/views';
import { POLL_INTERVAL_MS } from '@/lib/shared/polling';
import { tokenEndMs } from './host';

/** `code` says why a card is not live; `nowMs` is the time by the server's clock. */
export type Shown = { card: Card | null; state: CardState; code: string | null; nowMs: number };

type TokenWhy = Extract<FromFrame, { why: string }>['why'];

interface PollingOptions {
  view: CardView;
  load: (token: string | null, signal: AbortSignal) => Promise<Response>;
  /** Asks the host for a token, false if there is none to ask; null where the reader's session is used. */
  wantToken: ((why: TokenWhy) => boolean) | null;
  publish: (shown: Shown) => void;
}

/** Between two beats of a second: the fifth is the one. */
const DUE_MS = POLL_INTERVAL_MS - 500;
const ANSWER_WITHIN_MS = 10_000;
/** What does not change by itself is looked at again after this. */
const REFUSED_MS = 30_000;
/** A token is asked for again after the first, then after twice as long; by `told` the reader knows. */
const PAUSE_MS = { first: 2_000, told: 16_000, last: 30_000 };
/** Before a token's end the next one is asked for; halfway through one that hardly has longer. */
const AHEAD_MS = 30_000;
const SHORT_MS = 32_000;
/** For cards that do not say how often their figures are taken: a search without an index is shared for half a minute. */
const EVERY_MS = 4 * POLL_INTERVAL_MS;
const GRACE_MS = 2_000;

/** With these the last figures stay; with other troubles whoever looks may not see them any more. */
const KEEPS: readonly (string | null)[] = [null, 'unreachable', 'too_many', 'token_expired', 'token_invalid', 'no_token'];

/** State and code of what is known: the trouble of the last request, or else the age of the figures. */
export function shownOf(card: Card | null, trouble: string | null, nowMs: number): Shown {
  if (card === null || !KEEPS.includes(trouble)) {
    const state = trouble === null ? 'loading' : trouble === 'unreachable' ? trouble : 'refused';
    return { card: null, state, code: trouble, nowMs };
  }
  const readings = card.view === 'outbox' ? [card.line] : card.view === 'dead-letters' ? card.outboxes : [];
  const unread = readings.every(({ stale }) => stale !== null) ? readings[0]?.stale?.problem : undefined;
  const late = nowMs - Date.parse(card.asOf) > 2 * ('everyMs' in card ? card.everyMs : EVERY_MS) + GRACE_MS;
  const code = trouble ?? unread ?? (late ? 'late' : null);
  return { card, state: code === null ? 'live' : 'stale', code, nowMs };
}

/** The stable code of an answer that brings no card. */
function troubleOf(status: number, answer: object | null): string {
  if (status < 400 || status >= 500) return 'unreachable';
  return status === 429 ? 'too_many' : answer !== null && 'code' in answer ? String(answer.code) : 'other';
}

/** Asks for figures while the card is seen: one request at a time, with a token that the host renews where it shows by token. */
export function pollCard({ view, load, wantToken, publish }: PollingOptions) {
  let [card, trouble, token, why]: [Card | null, string | null, string | null, TokenWhy] = [null, null, null, 'start'];
  let [seen, asking, dueAt, endingAt, wantAt, pauseMs, skewMs] = [false, false, 0, Infinity, 0, PAUSE_MS.first, 0];
  const now = (): number => Date.now() + skewMs;
  const show = (): void => publish(shownOf(card, trouble, now()));

  function want(): void {
    if (wantToken === null || Date.now() < wantAt) return;
    wantAt = Date.now() + pauseMs;
    pauseMs = Math.min(2 * pauseMs, PAUSE_MS.last);
    if (wantToken(why) && (token !== null || pauseMs < PAUSE_MS.told)) return;
    trouble ??= 'no_token';
    show();
  }

  async function ask(): Promise<void> {
    asking = true;
    const sent = token;
    let waitMs = DUE_MS;
    dueAt = Date.now() + waitMs;
    try {
      const response = await load(sent, AbortSignal.timeout(ANSWER_WITHIN_MS));
      const { headers, status } = response;
      const answer = (await response.json()) as Card | { code?: unknown } | null;
      skewMs = (Date.parse(headers.get('date') ?? '') || Date.now()) - Date.now();
      const came = response.ok && answer !== null && 'view' in answer && answer.view === view;
      if (came) card = answer;
      if (came && now() < endingAt) pauseMs = PAUSE_MS.first;
      trouble = came ? null : troubleOf(status, answer);
      waitMs = 1_000 * Number(headers.get('retry-after'));
      // Not all who were refused in one moment again in one moment.
      if (status === 429) dueAt = Date.now() + Math.random() * POLL_INTERVAL_MS;
      // A newer one may have come meanwhile.
      if (status === 401 && token === sent) [token, why] = [null, 'refused'];
    } catch {
      trouble = 'unreachable';
    }
    if (!KEEPS.includes(trouble)) [card, waitMs] = [null, REFUSED_MS];
    dueAt = Math.max(dueAt, Date.now() + (waitMs || 0));
    asking = false;
    show();
    beat();
  }

  function beat(): void {
    if (!seen || asking) return;
    if (wantToken !== null && token === null) return want();
    if (now() >= endingAt) {
      why = 'ending';
      want();
    }
    if (Date.now() >= dueAt) void ask();
  }

  const timer = setInterval(beat, 1_000);
  show();
  want();
  return {
    take(given: string): void {
      const [endMs, nowMs] = [tokenEndMs(given), now()];
      const aheadMs = endMs - nowMs > SHORT_MS ? AHEAD_MS : (endMs - nowMs) / 2;
      [token, endingAt, dueAt] = [given, endMs - aheadMs, 0];
      if (trouble === 'no_token') trouble = null;
      show();
      beat();
    },
    /** Whether anybody can see the card. */
    look(visible: boolean): void {
      seen = visible;
      if (seen && card !== null) show();
      beat();
    },
    stop(): void {
      seen = false;
      clearInterval(timer);
    },
  };
}
