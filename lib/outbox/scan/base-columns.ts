import { sql } from 'kysely';
import type { Fragments } from '@/lib/database/fragments';
import { firstMatch, statePredicate } from '@/lib/shape/compile';
import { plainColumn } from '@/lib/shape/bound';
import type { ValueRole } from '@/lib/shape/shape';
import type { LiveState } from '@/lib/shared/states';
import { hiddenFields } from '../masking/hidden-fields';
import { numberedKey } from '../indexes/index-fit';
import { deadSinceRole, type Outbox } from '../outbox';
import type { PlaceSql } from '../rows/row';
import { stateCode, type Sql } from './sql-terms';
import { hasTime, type Traits } from './traits';

const WAITING: readonly LiveState[] = ['pending', 'retrying'];

/** The columns of all figures: no payload, and error texts of failed rows only, cut to 200 characters. */
export function baseColumns(outbox: Outbox, at: PlaceSql, traits: Traits, source: string): Sql {
  const { fragments, features } = outbox.database.engine;
  const nothing = (kind: Parameters<Fragments['nothing']>[0]): Sql => fragments.nothing(kind);
  const time = (role: ValueRole): Sql =>
    !hasTime(at.place, role) ? nothing('instant') : fragments.sane(at.roleInstant(role) ?? nothing('instant'));
  const attempts = at.role('attempts');
  const error = at.role('error');
  const attempted = time('attemptedAt');
  const died = time(deadSinceRole(at.place));
  const dead = at.place.key === 'dead' ? sql`true` : (statePredicate(outbox.shape, ['dead'], at.alias, outbox.scope) ?? sql`false`);
  const whenDead = (value: Sql): Sql => sql`case when ${dead} then ${value} end`;
  const when = (states: readonly LiveState[], value: Sql, none: Sql): Sql => {
    const predicate = at.place.key === 'dead' ? null : statePredicate(outbox.shape, states, at.alias, outbox.scope);
    return predicate === null ? none : sql`case when ${predicate} then ${value} end`;
  };
  const failed = (value: Sql): Sql => (at.place.key === 'dead' ? value : when(['dead', 'retrying', 'processing'], value, nothing('text')));
  const touch = at.place.description.kind === 'table' ? fragments.rowTouch(at.alias) : null;
  const short = (text: Sql): Sql => fragments.bytewise(sql`left(${text}, 200)`);
  // Fetched rows name their source, and hold their times as texts.
  const from = features.sharesSubqueries ? sql`` : sql`${fragments.bytewise(sql.lit(source))} as source, `;
  const told = (instant: Sql): Sql => (features.sharesSubqueries ? instant : fragments.instantText(instant));
  return sql`${from}${stateCodeOf(outbox, at)} as state, ${fragments.bytewise(typeOf(outbox, at))} as type, ${told(time('createdAt'))} as created, ${told(time('publishedAt'))} as published,
    ${told(attempted)} as attempted, ${told(whenDead(died))} as died,
    ${told(when(WAITING, time('availableAt'), nothing('instant')))} as available,
    ${numberOf(outbox, at)} as serial, ${traits.ids ? short(at.id.text) : nothing('text')} as id,
    ${attempts === null || !traits.attempts ? nothing('integer') : fragments.integer(attempts.sql)} as attempts,
    ${error === null ? nothing('text') : fragments.bytewise(failed(fragments.head(error.sql, error.description, 200)))} as error,
    ${short(orderingKey(outbox, at))} as ${sql.ref('key')},
    ${touch === null ? nothing('integer') : when(WAITING, touch.written, nothing('integer'))} as written,
    ${touch === null ? nothing('integer') : when(WAITING, touch.taken, nothing('integer'))} as taken`;
}

/** Of rows without a creation time, a number that grows with every event: the key, or a sequence of the whole table; else NULL. */
export function numberOf({ main, shape, database }: Outbox, at: PlaceSql): Sql {
  const { fragments } = database.engine;
  const sequence = shape.ordering?.key === undefined ? plainColumn(main, 'sequence') : null;
  const column = numberedKey(main) ?? (sequence?.kind === 'integer' ? sequence.name : null);
  if (column === null || at.place !== main || hasTime(main, 'createdAt')) return fragments.nothing('integer');
  return fragments.integer(at.column(column));
}

/** What events that wait for one another share: the key that the shape names, else the aggregate id. */
function orderingKey({ shape, database, settings }: Outbox, at: PlaceSql): Sql {
  const { fragments } = database.engine;
  const hidden = hiddenFields(settings);
  // Every role sees the verdicts.
  if (hidden.has('aggregateId') || hidden.has('aggregateType')) return fragments.nothing('text');
  const names = [shape.ordering?.key ?? []].flat();
  const texts = names.flatMap((name) => {
    if (isRole(at, name)) return [at.roleText(name)];
    const column = at.place.description.columns.get(name);
    return column === undefined ? [] : [fragments.asText(at.column(name), column)];
  });
  const [only, ...others] = texts;
  if (only === undefined || texts.length < names.length) return at.roleText('aggregateId');
  return others.length === 0 ? only : sql`concat_ws('~', ${sql.join(texts)})`;
}

const isRole = (at: PlaceSql, name: string): name is ValueRole => name !== 'id' && Object.hasOwn(at.place.roles, name);

/** The state as a code, first match wins; 0 if no rule fits. */
const stateCodeOf = (outbox: Outbox, at: PlaceSql): Sql =>
  at.place.key === 'dead' ? stateCode('dead') : firstMatch(outbox.shape, at.alias, outbox.scope, stateCode, sql.lit(0));

/** The type of a row, cut to the length of a series' name; NULL if it is masked, as every role sees the figures. */
export function typeOf(outbox: Outbox, at: PlaceSql): Sql {
  const none = at.role('type') === null || hiddenFields(outbox.settings).has('type');
  return none ? outbox.database.engine.fragments.nothing('text') : sql`left(${at.roleText('type')}, 200)`;
}
