/** The way of a change in docs/ARCHITECTURE.md is the way it goes: the stack where the UPDATE is executed. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { PostgresQueryCompiler } from 'kysely';
import { afterEach, expect, it, vi } from 'vitest';
import { documentedWay, ownFrames, ROOT } from '@/fixtures/ways';
import type { InterventionResult } from '@/lib/shared/model';
import { GET as event } from '../outboxes/[outbox]/events/[event]/route';
import { POST as intervene } from '../outboxes/[outbox]/interventions/route';
import { DEAD, useInstalledEscrow } from '@/scripts/testing/installed-escrow';

const { console } = useInstalledEscrow();

const limit = Error.stackTraceLimit;
afterEach(() => {
  Error.stackTraceLimit = limit;
  vi.restoreAllMocks();
});

it('an UPDATE is sent by the functions the page lists, and no room is entered twice', async () => {
  const params = { outbox: 'escrow', event: DEAD };
  const seen = (await (await console.callAs('operator', event, { params })).json()) as { event: { version: string } };
  const stacks: string[] = [];
  Error.stackTraceLimit = 200;
  const { compileQuery } = PostgresQueryCompiler.prototype;
  vi.spyOn(PostgresQueryCompiler.prototype, 'compileQuery').mockImplementation(function (this: PostgresQueryCompiler, ...given) {
    const compiled = compileQuery.apply(this, given);
    if (compiled.sql.startsWith('update') && compiled.sql.includes('"retry_count"')) stacks.push(new Error().stack ?? '');
    return compiled;
  });
  const body = { operation: 'requeue', events: [{ id: DEAD, version: seen.event.version }], reason: 'the node is back' };
  const answer = await console.callAs('operator', intervene, {
    method: 'POST',
    params: { outbox: 'escrow' },
    headers: { 'idempotency-key': 'way' },
    body,
  });
  expect((await answer.json()) as InterventionResult).toMatchObject({ changed: [DEAD] });

  expect(stacks).toHaveLength(1);
  // The transaction that all of it runs in is around it.
  const frames = ownFrames(stacks[0] ?? '').filter(({ file }) => !file.startsWith('lib/database/'));
  const [entry, ...way] = documentedWay('On the server');
  expect(entry?.file).toMatch(/^lib\/server\//);
  // One that only passes on has ended by then.
  const waiting = way.filter(({ does }) => !does.startsWith('passes on'));
  expect(frames.slice(1)).toEqual(waiting.map(({ name, file }) => ({ name, file })));
  // A script comes in by a route instead of an action.
  expect(frames[0]).toEqual({ name: 'handler', file: 'lib/server/route.ts' });
  const rooms = frames.map(({ file }) => file.split('/').slice(0, 2).join('/')).filter((room, index, all) => room !== all[index - 1]);
  expect(rooms).toEqual(['lib/server', 'lib/interventions']);

  const all = [...documentedWay('In the browser'), ...documentedWay('On the server')];
  for (const { name, file } of all) {
    const text = readFileSync(path.join(ROOT, file), 'utf8');
    expect(text, `${name} of ${file}`).toMatch(new RegExp(`(const|function) ${name}\\b`));
  }
  // The last hop builds the statement.
  expect(all.length + 1).toBeLessThanOrEqual(17);
  expect(new Set(all.map(({ file }) => file)).size).toBeLessThanOrEqual(12);
});
