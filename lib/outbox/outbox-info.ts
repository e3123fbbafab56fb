import { DatabaseFailure, type FailureCode } from '@/lib/database/failure';
import type { UnreadReason } from '@/lib/shared/figures/measured';
import type { OutboxInfo } from '@/lib/shared/model';
import { Problem } from '@/lib/shared/problems';
import { tableText } from '@/lib/shape/schema/names';
import { keepsOrder } from '@/lib/shape/shape';
import { capabilitiesOf, fieldsWhere, stateCapabilities } from './capabilities';
import type { OutboxDirectory } from './directory';
import { tableLabel, type Outbox, type OutboxSettings } from './outbox';
import type { Database } from '@/lib/database/database';

const BY_FAILURE: Partial<Record<FailureCode, UnreadReason>> = {
  timeout: 'source_slow',
  locked: 'source_slow',
  busy: 'source_slow',
  no_privilege: 'no_privilege',
  missing: 'table_missing',
  outdated: 'server_outdated',
  bad_value: 'source_unusable',
  other: 'source_unusable',
};

/** The reason code for an error that occurred while reading an outbox. */
export function whyUnread(error: unknown): UnreadReason {
  const failure = error instanceof Problem && error.cause instanceof DatabaseFailure ? error.cause : error;
  if (failure instanceof DatabaseFailure) return BY_FAILURE[failure.code] ?? 'source_down';
  if (!(failure instanceof Problem)) return 'source_down';
  if (failure.code === 'not_found') return 'table_missing';
  if (failure.code === 'timeout') return 'source_slow';
  return failure.code === 'invalid' ? 'source_unusable' : 'source_down';
}

const infoOf = (
  { id, name, inline, shape, runbook = null }: OutboxSettings,
  { id: database, engine }: Database,
  found: Pick<OutboxInfo, 'table' | 'capabilities' | 'whyReadOnly'>,
): OutboxInfo => ({
  ...{ id, name, database, engine: engine.key, shape: inline ? 'inline' : shape.key, writable: found.whyReadOnly === null, runbook },
  ...found,
});

export function outboxInfo(outbox: Outbox): OutboxInfo {
  const { settings, database, main, whyReadOnly } = outbox;
  const { schema, table } = main.table;
  const name = tableLabel({ schema: schema === database.engine.defaultSchema ? null : schema, table });
  return infoOf(settings, database, { table: name, capabilities: capabilitiesOf(outbox), whyReadOnly });
}

/** An outbox whose table has not been read: its configuration, without capabilities. */
export function unreachableInfo(directory: OutboxDirectory, id: string, why: UnreadReason): OutboxInfo {
  const settings = directory.settings(id);
  return infoOf(settings, directory.database(id), {
    table: tableText(settings.table),
    capabilities: {
      states: stateCapabilities(() => ({ available: false, because: why })),
      operations: {},
      keepsOrder: keepsOrder(settings.shape),
      fields: fieldsWhere(() => false),
    },
    whyReadOnly: why,
  });
}
