import { DatabaseFailure } from '@/lib/database/failure';
import { Queue, queuesOf } from '@/lib/shared/async/queue';
import { createShared } from '@/lib/shared/async/shared';
import { within } from '@/lib/shared/async/within';
import { FATES, type Fate, type Found, type FoundEvent, type FoundIn, type FoundWhy, leftOpen } from '@/lib/shared/lists/found';
import type { OutboxEvent, VersionedEvent } from '@/lib/shared/model';
import { Problem } from '@/lib/shared/problems';
import { capabilitiesOf } from '../capabilities';
import type { OutboxDirectory } from '../directory';
import type { Outbox } from '../outbox';
import { KEY_ROLES } from './filters';
import { EVENT_FATES, type FoundBySearch, type WantedKey, lacksIndex, readKey, searchKey, worstFirst } from './key-search';

/** Events of all outboxes together. */
const EVENTS_MAX = 100;
const ANSWER_MS = 2_000;
const SHARED_MS = 4_000;
const SEARCH_SHARED_MS = 30_000;
/** A first search is waited for so long, then the answer says that it goes on. */
const SEARCH_WAIT_MS = 1_200;
const NEW_KEYS_PER_SECOND = 20;
/** Outboxes read at once, and of one server: a silent one leaves turns to others. A turn ends after TURN_MS, whether or not it was answered. */
const TURNS = 8;
const TURNS_OF_SERVER = 6;
const TURN_MS = 700;
/** Answers kept at most: as many as new keys of these seconds over hundreds of outboxes. */
const PARTS_KEPT = 20_000;
const SEARCHES_KEPT = 2_000;
/** Searches that may wait for their turn at a server: no more can be done while anybody waits for them. */
const SEARCHES_WAITING = 300;

/** Who asks for what. Answers are shared among those with the same `as`, for whom `hidden` and `shown` have to do the same. */
export interface KeySearch {
  key: string;
  as: string;
  outboxes: readonly string[];
  hidden: (outbox: string) => ReadonlySet<string>;
  shown: (outbox: Outbox, events: VersionedEvent[]) => Promise<OutboxEvent[]>;
}

type Part = FoundIn & { at: string };

const NOTHING: FoundBySearch = { ids: [], more: false, searched: { rows: 0, backTo: null, complete: true } };
const UNSEARCHED: FoundBySearch = { ...NOTHING, searched: { ...NOTHING.searched, complete: false } };

/** What became of business keys: one find per outbox and key for all who ask within four seconds. Works on outside of requests. */
export function createKeyFates(directory: OutboxDirectory) {
  const parts = createShared<Part>(SHARED_MS, PARTS_KEPT);
  const searches = createShared<FoundBySearch>(SEARCH_SHARED_MS, SEARCHES_KEPT);
  const turns = new Queue(TURNS);
  const turnsOf = queuesOf();
  const searchesOf = queuesOf();
  const begun = new Map<string, number>();

  /** Gives up where nobody can wait for it any more. */
  function inTurn<T>({ id, database }: Outbox, asOf: number, work: () => Promise<T>): Promise<T> {
    const server = database.status().server.key;
    return turnsOf(server, TURNS_OF_SERVER).run(id, async () => {
      const turn = turns.enter(server);
      await turn.turn;
      const going = Date.now() - asOf > ANSWER_MS ? Promise.reject(late(id)) : work();
      within(going, TURN_MS).then(turn.leave, turn.leave);
      return going;
    });
  }

  /** One at a time per server. */
  const search = (outbox: Outbox, question: WantedKey): Promise<FoundBySearch> =>
    searches.get(JSON.stringify([outbox.id, question.key, [...question.hidden].sort()]), async () => {
      const asked = Date.now();
      const queue = searchesOf(outbox.database.status().server.key, 1);
      if (queue.waiting >= SEARCHES_WAITING) throw late(outbox.id);
      return queue.run(outbox.id, async () => {
        if (Date.now() - asked > SEARCH_SHARED_MS) throw late(outbox.id);
        const at = new Date().toISOString();
        return { ...(await searchKey(outbox, question)), at };
      });
    });

  async function look(id: string, asking: KeySearch): Promise<Part> {
    const asked = Date.now();
    const question = { key: asking.key, hidden: asking.hidden(id) };
    const answer = (part: Partial<Part>): Part => ({ ...silent(id, null), at: new Date().toISOString(), ...part });
    try {
      const outbox = await directory.last(id);
      const found = lacksIndex(outbox, question) ? await within(search(outbox, question), SEARCH_WAIT_MS) : NOTHING;
      return await inTurn(outbox, found === null ? asked + SEARCH_WAIT_MS : asked, async () => {
        const { events, ...rest } = await readKey(outbox, question, found ?? UNSEARCHED);
        const whole = events.map(({ event }) => event);
        const shown = await asking.shown(outbox, whole);
        const seen = shown.flatMap((event, index): FoundEvent[] => {
          const fate = events[index]?.fate;
          return fate === undefined ? [] : [{ ...event, fate }];
        });
        const isHidden = KEY_ROLES.some((role) => question.hidden.has(role));
        const why = whyPart(outbox, found === null, isHidden, seen.length === 0);
        return answer({ ...rest, at: found?.at ?? new Date().toISOString(), events: seen, why });
      });
    } catch (error) {
      if (!(error instanceof DatabaseFailure || error instanceof Problem)) throw error;
      if (error instanceof DatabaseFailure && error.code === 'missing') directory.forget(id);
      return answer({ why: error.code === 'timeout' || error.code === 'busy' ? 'not_answered' : 'unavailable' });
    }
  }

  function refuseTooMany(name: string): void {
    for (const [key, at] of begun) if (Date.now() - at >= 1_000) begun.delete(key);
    if (!begun.has(name) && begun.size >= NEW_KEYS_PER_SECOND)
      throw new Problem('too_many', 'Too many keys are looked for at once: try again in a second', { retryAfterSeconds: 1 });
    begun.set(name, Date.now());
  }

  return {
    /** Answers within two seconds, and names the outboxes that did not. Throws Problem `too_many`. */
    async find(asking: KeySearch): Promise<Found> {
      const { key, as, outboxes } = asking;
      const nameOf = (id: string): string => JSON.stringify([id, as, key]);
      if (outboxes.some((id) => !parts.has(nameOf(id)))) refuseTooMany(JSON.stringify([as, key]));
      const found = await Promise.all(
        outboxes.map(async (id) => {
          const part = parts.get(nameOf(id), () => look(id, asking));
          return (await within(part, ANSWER_MS)) ?? { ...silent(id, 'not_answered'), at: new Date().toISOString() };
        }),
      );
      return answerOf(key, found);
    },
  };
}

const silent = (outbox: string, why: FoundWhy | null): FoundIn => ({ outbox, events: [], searched: null, more: false, why });

const late = (outbox: string): Problem => new Problem('timeout', `Nobody waits for what was to be read of ${outbox}`);

function whyPart(outbox: Outbox, searching: boolean, isHidden: boolean, isEmpty: boolean): FoundWhy | null {
  if (searching) return 'searching';
  if (isHidden) return 'hidden';
  const { published } = capabilitiesOf(outbox).states;
  return isEmpty && !published.available && published.because === 'deleted_on_publish' ? 'removed' : null;
}

function answerOf(key: string, parts: Part[]): Found {
  const all = parts.flatMap(({ outbox, events }) => events.map((event) => ({ outbox, event, fate: event.fate }))).toSorted(worstFirst);
  const kept = new Set(all.slice(0, EVENTS_MAX).map(({ event }) => event));
  const outboxes = parts.map(({ at: _, ...part }): FoundIn => {
    const events = part.events.filter((event) => kept.has(event));
    return { ...part, events, more: part.more || events.length < part.events.length };
  });
  const rank = ({ events: [first], why }: FoundIn): number =>
    first === undefined ? EVENT_FATES.length + (why === null ? 1 : 0) : EVENT_FATES.indexOf(first.fate);
  return {
    asOf: parts.map(({ at }) => at).toSorted()[0] ?? new Date().toISOString(),
    key,
    fate: overallFate(outboxes),
    outboxes: outboxes.toSorted((a, b) => rank(a) - rank(b)),
  };
}

/**
 * An outbox that did not answer can only make it worse, and so can events of the key that are there and were not looked at: nothing is worse
 * than `dead`. Where a search was bounded, or a key is hidden, what was found counts, and nothing found is no proof that there is nothing.
 */
function overallFate(outboxes: FoundIn[]): Fate {
  const fates = outboxes.flatMap(({ events }) => events.map(({ fate }) => fate));
  if (fates.includes('dead')) return 'dead';
  const open = outboxes.filter((part) => leftOpen(part) !== null);
  const isSilent = ({ why, more, searched }: FoundIn): boolean => more || (why === null ? searched?.backTo === null : why !== 'hidden');
  if (fates.includes('not_known') || open.some(isSilent)) return 'not_known';
  return FATES.find((fate) => fate !== 'none' && fates.includes(fate)) ?? (open.length === 0 ? 'none' : 'not_known');
}
