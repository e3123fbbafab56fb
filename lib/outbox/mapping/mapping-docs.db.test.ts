/** Every example of docs/mapping.md is parsed as a configuration and run against the table that stands beside it. */
import fs from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { directoryOptions } from '../directory';
import { SUPPORTED, parseConfig } from '@/lib/config/load';
import { openDatabase, type Database } from '@/lib/database/database';
import { LIVE_STATES } from '@/lib/shared/states';
import { createRoles, useTestDatabaseOf } from '@/scripts/testing/outbox';
import { bindOutbox, mappingProblems } from '../bind';
import { getEvent } from '../rows/get-event';
import { listEvents } from '../lists/list-events';
import type { Outbox } from '../outbox';
import { ENGINE_KEYS } from '@/lib/shared/model';

interface Example {
  name: string;
  sql: Record<'postgres' | 'mysql', string[]>;
  yaml: string;
  states: Map<string, string>;
}

const PAGE = fs.readFileSync('docs/mapping.md', 'utf8');

function examples(): Example[] {
  return PAGE.split('<!-- example: ')
    .slice(1)
    .map((section) => {
      const blocks = [...section.matchAll(/```(\w+)(?: (\w+))?\n([\s\S]*?)```/g)].map(([, language, flag, text]) => ({
        language,
        flag,
        text: text ?? '',
      }));
      const of = (language: string, flag?: string): string =>
        blocks.find((one) => one.language === language && one.flag === flag)?.text ?? '';
      const statements = (engine: 'postgres' | 'mysql'): string[] =>
        (of('sql', engine) || of('sql')).split(';\n').filter((statement) => statement.trim() !== '');
      return {
        name: section.slice(0, section.indexOf(' ')),
        sql: { postgres: statements('postgres'), mysql: statements('mysql') },
        yaml: of('yaml'),
        states: new Map(
          of('text')
            .trim()
            .split('\n')
            .map((line) => line.split(' ') as [string, string]),
        ),
      };
    });
}

/** What the page's sources give for one event of an example. */
const FACTS: Record<string, [string, Record<string, unknown>]> = {
  'ten-lines': ['2', { type: 'order.paid', attempts: 3, createdAt: '2026-01-01T00:00:03.000000Z', publishedAt: null }],
  epoch: ['1', { createdAt: '2026-01-01T00:00:01.000000Z', publishedAt: '2026-01-01T00:00:02.500000Z' }],
  lease: ['c', { error: 'refused', attempts: 4, createdAt: '2026-01-01T00:00:03.000000Z' }],
  'integer-status': ['5', { state: 'dead', stateLabel: 'discarded' }],
  'dead-letters': ['3', { error: 'mailbox full', type: 'b' }],
  dotted: ['9007199254740993', { error: 'boom', maxAttempts: 50, createdAt: '2025-12-31T15:00:01.000000Z' }],
  'mixed-case': ['2', { type: 'a', createdAt: '2026-01-01T00:00:02.000000Z' }],
  composite: ['a%7Eb%25c~1', { createdAt: '2026-01-01T00:00:03.000000Z' }],
  cursor: ['2', { type: 'orders', dedupKey: 'u2' }],
  children: ['4', { type: 'order.paid' }],
  bytes: ['5f0c1f1e-0b7b-4a7e-9c9d-1a2b3c4d5e6f', { type: 'OrderPaid', aggregateId: 'order-8812', traceId: '4bf92f' }],
  'row-filter': ['a', { type: 'OrderPaid', aggregateId: '7' }],
};

/** Who has an event and until when, and when it is due, as the event's page shows it. */
const CLAIMS: Record<string, [string, Record<string, unknown>]> = {
  lease: ['b', { lockedUntil: '2999-01-01T00:00:00.000000Z', lockedBy: 'worker-1', availableAt: null }],
  'two-booleans': ['a', { lockedUntil: null, lockedBy: null, availableAt: '2026-01-01T00:00:01.000000Z' }],
  'ten-lines': ['2', { lockedUntil: null, lockedBy: null, availableAt: null }],
};

it('has the cases it must teach', () => {
  const names = examples().map((example) => example.name);
  for (const name of ['lease', 'integer-status', 'two-booleans', 'epoch', 'dead-letters', 'mixed-case', 'dotted', 'composite', 'bytes'])
    expect(names).toContain(name);
});

describe.each(ENGINE_KEYS)('the examples of docs/mapping.md on %s', (engine) => {
  const database = useTestDatabaseOf(engine, async (db) => {
    for (const example of examples()) for (const statement of example.sql[engine]) await db.query(statement);
  });
  let opened: Database;
  beforeAll(async () => {
    const roles = await createRoles(database);
    const reader = new URL(roles.reader).username;
    const grant =
      engine === 'postgres'
        ? `GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${reader}`
        : `GRANT SELECT ON ${database.name}.* TO ${reader}@'%'`;
    await database.query(grant);
    opened = openDatabase({ id: 'shop', url: roles.reader });
  });
  afterAll(() => opened.close());

  describe.each(examples().map((example) => [example.name, example] as const))('%s', (_name, example) => {
    const settings = () => {
      const reading = parseConfig(
        `databases: { shop: { url: '${database.url}' } }\n${example.yaml}`,
        '/docs.yaml',
        SUPPORTED,
        () => undefined,
      );
      if (!reading.ok) throw new Error(reading.problems.join('\n'));
      const [outbox] = directoryOptions(reading.config).outboxes;
      if (outbox === undefined) throw new Error('no outbox');
      return outbox;
    };
    let outbox: Outbox;
    beforeAll(async () => {
      expect(await mappingProblems(settings(), opened)).toEqual([]);
      outbox = await bindOutbox(settings(), opened);
    });

    it('gives every row the state the page says, in the list and by id, and lists no other', async () => {
      const page = await listEvents(outbox, {}, { limit: 50 });
      expect(new Map(page.events.map((event) => [event.id, event.state]))).toEqual(example.states);
      const labels = page.events.flatMap(({ id, stateLabel }) => (stateLabel === null ? [] : [[id, stateLabel]]));
      expect(labels).toEqual(example.name === 'integer-status' ? [['5', 'discarded']] : []);
      for (const [id, state] of example.states) expect.soft((await getEvent(outbox, id))?.event.state, id).toBe(state);
    });

    it('reads what the page says a column means', async () => {
      const [id, facts] = FACTS[example.name] ?? [];
      if (id !== undefined) expect((await getEvent(outbox, id))?.event).toMatchObject(facts ?? {});
      const [claimed, claim] = CLAIMS[example.name] ?? [];
      if (claimed !== undefined) expect((await getEvent(outbox, claimed))?.claim).toEqual(claim);
      for (const [other] of example.states)
        expect.soft((await listEvents(outbox, { q: other }, { limit: 5 })).events.map((event) => event.id)).toEqual([other]);
    });

    it('finds the rows of each state, and pages through them one by one', async () => {
      for (const state of LIVE_STATES) {
        const page = await listEvents(outbox, { state: [state] }, { limit: 50 });
        const wanted = [...example.states].filter(([, own]) => own === state).map(([id]) => id);
        expect.soft(page.events.map((event) => event.id).sort(), state).toEqual(wanted.sort());
      }
      const walked: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await listEvents(outbox, {}, { limit: 1, ...(cursor === undefined ? {} : { cursor }) });
        walked.push(...page.events.map((event) => event.id));
        cursor = page.nextCursor ?? undefined;
      } while (cursor !== undefined && walked.length < 20);
      expect(walked.sort()).toEqual([...example.states.keys()].sort());
    });
  });
});
