import type { ColumnDescription } from '@/lib/database/description';
import type { OrderedBy } from '@/lib/shared/lists/shown';
import { commonTests, coversEveryRow, notNull } from '@/lib/shape/reason';
import type { Leaf } from '@/lib/shape/schema/condition';
import { fitTests, fitWalk, numberedKey, uniqueKey, type Walk } from '../indexes/index-fit';
import { isSmall, type Outbox } from '../outbox';
import { PARTS, STATES_OF, type Part } from '../scan/sources';
import { isTime, plainColumn, type Place } from '@/lib/shape/bound';

/** The order in which an outbox is listed, and the indexes that serve it. */
export interface ListOrder {
  by: OrderedBy;
  /** One index over all rows in the list's order; null if there is none. */
  whole: Walk | null;
  /** True if each step of `whole` may read another page: random keys are spread over the whole table. */
  scattered: boolean;
  /** The index of each part that has one; null if it finds the rows but not in the list's order. */
  parts: Partial<Record<Part, Walk | null>>;
  /** True if the parts that have an index contain all possible rows. */
  covered: boolean;
}

/** By indexes alone, so that it stays from page to page: creation; what happened last; a numbered key; creation if small; the key. */
export function listOrder(outbox: Outbox): ListOrder {
  const { main, shape } = outbox;
  const created = plainColumn(main, 'createdAt');
  const key = uniqueKey(main);
  const shown = PARTS.filter((part) => shape.states.some(({ state }) => STATES_OF[part].includes(state)));
  const byCreated = (part: Part): Walk | null | undefined => {
    const index = partIndex(main, created?.name ?? null, commonTests(shape, STATES_OF[part]));
    // Published rows are nearly all rows: sorting them means reading the whole table.
    return part === 'published' ? (index ?? undefined) : index;
  };
  const indexes = (parts: readonly Part[]): ListOrder['parts'] => Object.fromEntries(parts.map((part) => [part, byCreated(part)]));
  const open = shown.filter((part) => part !== 'published');
  const byKey: ListOrder = {
    by: 'key',
    whole: key === null ? null : fitWalk(main, key, [], false),
    scattered: numberedKey(main) === null,
    parts: indexes(open),
    covered: false,
  };

  if (main.roles.createdAt === undefined) return byKey;
  if (created !== null) {
    const whole = fitWalk(main, created.name, [], false);
    if (whole !== null) return { by: 'created', whole, scattered: false, parts: indexes(shown), covered: true };
    if (shown.every((part) => byCreated(part) != null))
      return { by: 'created', whole: null, scattered: false, parts: indexes(shown), covered: coversEveryRow(shape) };
  }
  const published = publishedWalk(outbox, created);
  const covered = open.every((part) => byCreated(part) !== undefined);
  if (published !== null && byCreated('waiting') !== undefined && (covered || numberedKey(main) === null)) {
    const parts = { ...indexes(open), published };
    return { by: 'happened', whole: null, scattered: false, parts, covered: covered && coversEveryRow(shape) };
  }
  if (byKey.whole !== null && (!byKey.scattered || !isSmall(main))) return byKey;
  return { by: 'created', whole: null, scattered: false, parts: indexes(open), covered: false };
}

function partIndex(place: Place, created: string | null, tests: Leaf[]): Walk | null | undefined {
  if (tests.length === 0) return undefined;
  const walk = created === null ? null : fitWalk(place, created, tests, true);
  return walk !== null || fitTests(place, 'o', created, tests) !== null ? walk : undefined;
}

/** Published rows by publish time, if that time can be sorted together with creation times; otherwise null. */
function publishedWalk({ main, shape }: Outbox, created: ColumnDescription | null): Walk | null {
  const published = plainColumn(main, 'publishedAt');
  if (published === null || created === null || published.kind !== created.kind || published.time !== created.time) return null;
  if (!isTime(published) || [published.type, created.type].includes('date')) return null;
  const tests: Leaf[] = [...commonTests(shape, STATES_OF.published), notNull(published.name)];
  return shape.states.some((rule) => rule.state === 'published') ? fitWalk(main, published.name, tests, false) : null;
}
