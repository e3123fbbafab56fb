/** What an error quotes of well-known keys is hidden from a viewer wherever the error is told, although no `mask` is configured. */
import { uuidv7 } from 'uuidv7';
import { describe, expect, it } from 'vitest';
import { escrowStatus } from '@/lib/outbox/shapes/escrow-status';
import type { DeadLetterGroup } from '@/lib/shared/model';
import type { Role } from '@/lib/shared/permissions';
import { insertAuditEntries } from '@/lib/store/audit';
import { useTestDatabase } from '@/scripts/testing/database';
import { createSample } from '@/scripts/testing/outbox';
import { getConsole } from '../console';
import type { Context } from '../context';
import { useTestConsole } from '../testing';
import { readAudit } from './audit';
import { readDeadLetters } from './dead-letters';
import { readEventDetail } from './event-detail';
import { readEvents } from './events';

const SECRET = 'swordfish';
const id = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
/** Longer than a list or a group tells of an error, so that it is cut in the secret. */
const FILLED = (characters: number): string => `${'x'.repeat(characters - 6)} ${SECRET}`;
const ERRORS = ['login failed for swordfish-1', 'login failed for swordfish-2', FILLED(300), FILLED(500), 'node 7 down'];

const store = useTestDatabase();
const database = useTestDatabase(async (db) => {
  await createSample(db, escrowStatus, { rows: false });
  for (const [index, error] of ERRORS.entries())
    await db.query(
      `INSERT INTO p2p.transaction_outbox (id, idempotency_key, transaction_type, transaction_ref_id, status, payload, error_message) VALUES ($1, $2, 't', 'r', 'failed', $3, $4)`,
      [id(index), `k${index}`, { user: { password: index < 2 ? `${SECRET}-${index + 1}` : SECRET } }, error],
    );
});
useTestConsole(
  () => store.url,
  () =>
    `databases: {d: {url: '${database.url}'}}\noutboxes: [{id: escrow, database: d, table: p2p.transaction_outbox, shape: escrow-status}]\n`,
);

const asking = async (role: Role): Promise<Context> => ({
  console: await getConsole(),
  actor: { id: 'account:1', name: 'somebody', role, kind: 'account' },
  requestId: 'r',
  locale: 'en',
  timeZone: 'UTC',
});
const list = async (role: Role) => readEvents(await asking(role), 'escrow', {}, { limit: 50 });
const detail = async (role: Role, event: string) => readEventDetail(await asking(role), 'escrow', event);
const groups = async (role: Role) => (await readDeadLetters(await asking(role), 'escrow', { order: 'newest', limit: 5 })).groups;
const causes = (of: DeadLetterGroup[]): string[] => of.map(({ error, count }) => `${count} ${error?.replace(/x+/, 'x') ?? ''}`).sort();

describe('a secret in a payload', () => {
  it('is quoted by no error of a list, and by each for an operator', async () => {
    expect(JSON.stringify(await list('viewer'))).not.toMatch(/(?<!pas)sword/);
    const errors = (await list('viewer')).events.map(({ id: event, error }) => [event, error]);
    expect(Object.fromEntries(errors)).toMatchObject({ [id(0)]: 'login failed for ••••', [id(4)]: 'node 7 down' });
    expect((await list('operator')).events.map(({ error }) => error)).toContain('login failed for swordfish-1');
  });

  it('is quoted neither by the page of its event nor by those around it', async () => {
    const page = await detail('viewer', id(1));
    expect(page.event.error).toBe('login failed for ••••');
    expect(page.neighbours).toHaveLength(ERRORS.length);
    expect(JSON.stringify(page)).not.toMatch(/(?<!pas)sword/);
    expect((await detail('operator', id(1))).event.error).toBe('login failed for swordfish-2');
  });

  it('is quoted by no group of dead letters, whose causes are still told apart', async () => {
    expect(causes(await groups('viewer'))).toEqual(['1 node 7 down', '1 x ••••', '1 x', '2 login failed for ••••'].sort());
    expect(causes(await groups('operator'))).toContain('2 login failed for swordfish-…');
  });

  it('is quoted by no record of an intervention; where the event is gone its error is withheld, where the database is gone everything is', async () => {
    const { store: own } = await getConsole();
    const entry = (outbox: string, eventId: string) => ({
      id: uuidv7(),
      at: new Date().toISOString(),
      actorId: 'account:1',
      actor: 'somebody',
      role: 'operator',
      operation: 'retry',
      outbox,
      eventId,
      eventType: 't',
      aggregateId: 'r',
      reason: 'again',
      outcome: 'applied' as const,
      code: null,
      interventionId: null,
      before: { status: 'failed', error_message: 'login failed for swordfish-1' },
      after: { status: 'pending', error_message: null },
    });
    await insertAuditEntries(own.db, [entry('escrow', id(0)), entry('escrow', id(99)), entry('elsewhere', id(0))]);
    const seen = async (role: Role) =>
      (await readAudit(await asking(role), {}, { limit: 50 })).entries.map((one) => ({ ...one.before, of: one.outbox }));
    expect(await seen('viewer')).toEqual(
      expect.arrayContaining([
        { status: 'failed', error_message: 'login failed for ••••', of: 'escrow' },
        { status: 'failed', error_message: '••••', of: 'escrow' },
        { status: '••••', error_message: '••••', of: 'elsewhere' },
      ]),
    );
    expect((await seen('operator')).filter((one) => JSON.stringify(one).includes('swordfish-1'))).toHaveLength(3);
  });
});
