/** What an error quotes of well-known keys is hidden from a viewer wherever the error is told, although no `mask` is configured. */
import { uuidv7 } from 'uuidv7';
import { describe, expect, it } from 'vitest';
import { escrowStatus } from '@/lib/shape/catalog/escrow-status';
import { groupFilter, type DeadLetterGroup } from '@/lib/shared/dead-letter-groups';
import type { Role } from '@/lib/shared/permissions';
import { insertAuditEntries } from '@/lib/store/audit';
import { useTestDatabase } from '@/scripts/testing/database';
import { createSample } from '@/scripts/testing/outbox';
import { getConsole } from '../console';
import { contextOf, useTestConsole } from '@/scripts/testing/console';
import { readAudit } from './audit';
import { readDeadLetters } from './dead-letters';
import { readEventDetail } from './event';
import { readEvents } from './events';
import { visibleFilter } from './shown';

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

const list = async (role: Role) => readEvents(await contextOf(role), 'escrow', {}, { limit: 50 });
const detail = async (role: Role, event: string) => readEventDetail(await contextOf(role), 'escrow', event);
const groups = async (role: Role) => (await readDeadLetters(await contextOf(role), 'escrow', { order: 'newest', limit: 5 })).groups;
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
      (await readAudit(await contextOf(role), {}, { limit: 50 })).entries.map((one) => ({ ...one.before, of: one.outbox }));
    expect(await seen('viewer')).toEqual(
      expect.arrayContaining([
        { status: 'failed', error_message: 'login failed for ••••', of: 'escrow' },
        { status: 'failed', error_message: '••••', of: 'escrow' },
        { status: '••••', error_message: '••••', of: 'elsewhere' },
      ]),
    );
    expect((await seen('operator')).filter((one) => JSON.stringify(one).includes('swordfish-1'))).toHaveLength(3);
  });

  it('is confirmed by no filter: one that reads errors is refused before anything is read, and left out of a link with a word', async () => {
    for (const error of ['sword', 'nothing like it'])
      await expect(readEvents(await contextOf('viewer'), 'escrow', { error }, { limit: 5 })).rejects.toMatchObject({
        code: 'forbidden',
        fields: { error: 'reads error, which is hidden from the role viewer' },
      });
    await expect(readDeadLetters(await contextOf('viewer'), 'escrow', { order: 'newest', error: 'sword', limit: 5 })).rejects.toMatchObject(
      {
        code: 'forbidden',
      },
    );
    expect((await readEvents(await contextOf('operator'), 'escrow', { error: 'sword' }, { limit: 5 })).events).toHaveLength(4);
    expect(visibleFilter(await contextOf('viewer'), ['escrow'], { filter: { error: 'sword', type: ['t'] }, errors: {} })).toEqual({
      filter: { type: ['t'] },
      errors: { error: { code: 'hidden', value: 'error' } },
    });
  });

  it('is no part of a cause: what somebody sees of an error finds the events that died of it', async () => {
    const found = async (role: Role, cause: string, limit = 50) =>
      (await readEvents(await contextOf(role), 'escrow', { cause }, { limit })).events.map((event) => event.id).sort();
    expect(await found('viewer', 'login failed for ••••')).toEqual([id(0), id(1)]);
    expect(await found('viewer', 'login failed for swordfish-1')).toEqual([]);
    expect(await found('operator', 'login failed for swordfish-7')).toEqual([id(0), id(1)]);
    for (const group of await groups('viewer')) {
      const page = await readEvents(await contextOf('viewer'), 'escrow', groupFilter(group), { limit: 50 });
      expect([page.events.length, page.searched]).toEqual([group.count, { rows: 5, backTo: expect.any(String) as string, complete: true }]);
    }
    expect(await found('viewer', 'node 1 down', 1)).toEqual([id(4)]);
  });

  it('cannot be guessed by a version', async () => {
    const versions = async (role: Role) => [
      ...(await list(role)).events,
      (await detail(role, id(1))).event,
      ...(await detail(role, id(1))).neighbours.map(({ event }) => event),
    ];
    expect(new Set((await versions('viewer')).map(({ version }) => version))).toEqual(new Set([null]));
    expect((await versions('operator')).every(({ version }) => version !== null)).toBe(true);
  });
});
