import type { DatabaseFailure } from '@/lib/database/failure';
import type { DatabaseStatus } from '@/lib/database/database';
import type { OutboxDirectory } from '@/lib/outbox/directory';
import type { AwayReason, FleetDatabase } from '@/lib/shared/figures/fleet';

/** The databases of the configuration and what is known of them without asking them; those that are away first. */
export function fleetDatabases(directory: OutboxDirectory): FleetDatabase[] {
  const outboxes = new Map<string, number>();
  for (const id of directory.ids) {
    const database = directory.database(id).id;
    outboxes.set(database, (outboxes.get(database) ?? 0) + 1);
  }
  return directory.databases
    .map((database): FleetDatabase => {
      const { state, since, failure, version, roles, server }: DatabaseStatus = database.status();
      return {
        id: database.id,
        engine: database.engine.key,
        version,
        state,
        since: new Date(since).toISOString(),
        why: failure === null ? null : reasonOf(failure),
        outboxes: outboxes.get(database.id) ?? 0,
        connections: roles,
        server: { open: server.open, limit: server.limit },
      };
    })
    .sort((a, b) => Number(b.state === 'down') - Number(a.state === 'down'));
}

/** By SQLSTATE, the error numbers of MySQL and MariaDB, and the codes of sockets. */
const BY_STATE: Record<string, AwayReason> = {
  ECONNREFUSED: 'refused',
  ETIMEDOUT: 'silent',
  '28000': 'login',
  '28P01': 'login',
  '1045': 'login',
  '1698': 'login',
  '3D000': 'missing',
  '1049': 'missing',
  '53300': 'full',
  '1040': 'full',
  '1203': 'full',
  '1226': 'full',
};

function reasonOf({ state, cause }: DatabaseFailure): AwayReason {
  const known = state === null ? undefined : BY_STATE[state];
  if (known !== undefined) return known;
  const message = cause instanceof Error ? cause.message : '';
  return /timeout expired|no connection within|no answer within|ETIMEDOUT/i.test(message) ? 'silent' : 'network';
}
