import { DatabaseFailure, type FailureCode } from '@/lib/database/failure';
import type { UnreadReason } from '@/lib/shared/figures/measured';
import type { Capabilities, OutboxInfo } from '@/lib/shared/model';
import { Problem } from '@/lib/shared/problems';
import { STATES } from '@/lib/shared/states';
import type { OutboxDirectory } from './directory';
import { tableText } from '@/lib/shape/schema/names';
import { keepsOrder } from '@/lib/shape/shape';

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

/** Why an outbox could not be read, by what was thrown. */
export function whyUnread(error: unknown): UnreadReason {
  const failure = error instanceof Problem && error.cause instanceof DatabaseFailure ? error.cause : error;
  if (failure instanceof DatabaseFailure) return BY_FAILURE[failure.code] ?? 'source_down';
  if (!(failure instanceof Problem)) return 'source_down';
  if (failure.code === 'not_found') return 'table_missing';
  if (failure.code === 'timeout') return 'source_slow';
  return failure.code === 'invalid' ? 'source_unusable' : 'source_down';
}

/** What can be said of an outbox whose table has not been seen: its configuration, and nothing it could do. */
export function unreachableInfo(directory: OutboxDirectory, id: string, why: UnreadReason): OutboxInfo {
  const settings = directory.settings(id);
  const database = directory.database(id);
  return {
    id,
    name: settings.name,
    database: database.id,
    engine: database.engine.key,
    shape: settings.inline ? 'inline' : settings.shape.key,
    table: tableText(settings.table),
    capabilities: {
      states: Object.fromEntries(STATES.map((state) => [state, { available: false, because: why }])) as Capabilities['states'],
      operations: {},
      keepsOrder: keepsOrder(settings.shape),
      fields: {
        aggregate: false,
        createdAt: false,
        publishedAt: false,
        lastAttemptAt: false,
        attempts: false,
        error: false,
        dedupKey: false,
        traceId: false,
        headers: false,
        amount: false,
        availableAt: false,
        lockedUntil: false,
        lockedBy: false,
      },
    },
    writable: false,
    whyReadOnly: why,
  };
}
