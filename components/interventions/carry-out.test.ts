import { expect, test, vi } from 'vitest';
import type { SeenEvent } from '@/lib/shared/changes/batches';
import type { InterventionPreview, InterventionResult } from '@/lib/shared/model';
import type { InterventionActions } from './actions';
import { carryOut } from './carry-out';
import { NOT_THERE, lookAt } from './look-at';

const missing: Partial<InterventionPreview['rows'][number]['event']> = { version: '' };

/** A console over a table of ids and versions, which keeps what was asked of it. */
function consoleOver(table: Map<string, string>) {
  const looks: SeenEvent[][] = [];
  const sent: SeenEvent[][] = [];
  const actions: InterventionActions = {
    preview: ({ outbox, operation, events }) => {
      looks.push(events);
      const rows = events.map(({ id }) => ({ event: { ...missing, id, version: table.get(id) ?? '' } }));
      return Promise.resolve({ ok: true, value: { outbox, operation, rows } as unknown as InterventionPreview });
    },
    intervene: ({ request }) => {
      sent.push(request.events);
      const changed = request.events.map(({ id }) => id);
      return Promise.resolve({ ok: true, value: { outcome: 'applied', changed, skipped: [] } as unknown as InterventionResult });
    },
    check: () => Promise.resolve({ ok: true, value: null }),
  };
  return { actions, looks, sent };
}

const unseen = (count: number): SeenEvent[] => Array.from({ length: count }, (_, i) => ({ id: String(i), version: '' }));
const tableOf = (events: SeenEvent[]) => new Map(events.map(({ id }) => [id, `v${id}`]));
const waiting = { onChecking: () => undefined, gone: () => false };

test('events that are to be undone are all looked at before anything is sent, 200 at a time', async () => {
  const events = unseen(450);
  const { actions, looks, sent } = consoleOver(tableOf(events));
  const seen = await lookAt(actions, 'o', 'restore', events, () => false);
  expect(seen).toEqual({ ok: true, value: events.map(({ id }) => ({ id, version: `v${id}` })) });
  expect(looks.map((some) => some.length)).toEqual([200, 200, 50]);
  expect(sent).toEqual([]);
});

test('an event that is not there is looked at like any other: it has a version no row has', async () => {
  const events = unseen(3);
  const table = tableOf(events);
  table.delete('1');
  const { actions } = consoleOver(table);
  const seen = await lookAt(actions, 'o', 'restore', events, () => false);
  expect(seen.ok && seen.value[1]).toEqual({ id: '1', version: NOT_THERE });
});

test('events that were seen are not looked at again', async () => {
  const { actions, looks } = consoleOver(new Map());
  const events = [{ id: '1', version: 'v1' }];
  expect(await lookAt(actions, 'o', 'restore', events, () => false)).toEqual({ ok: true, value: events });
  expect(looks).toEqual([]);
});

test('nobody looks on when the dialog has gone, and a refusal ends the look', async () => {
  const { actions, looks } = consoleOver(new Map());
  await lookAt(actions, 'o', 'restore', unseen(600), () => looks.length >= 1);
  expect(looks).toHaveLength(1);
  const broken: InterventionActions = { ...actions, preview: () => Promise.reject(new Error('Failed to fetch')) };
  expect(await lookAt(broken, 'o', 'restore', unseen(600), () => false)).toMatchObject({ ok: false, problem: { code: 'unavailable' } });
});

const UNKNOWN = { outcome: 'unknown', at: null, changed: [], skipped: [] } as unknown as InterventionResult;
const batch = { key: 'k', events: [{ id: '1', version: 'v1' }] };

test('an unknown outcome is asked after and not sent again; one that was never committed is as if it had not been sent', async () => {
  const { actions, sent } = consoleOver(new Map());
  const answers = [UNKNOWN, { ...UNKNOWN, outcome: 'none' as const }];
  const unsure: InterventionActions = {
    ...actions,
    intervene: async (input) => {
      await actions.intervene(input);
      return { ok: true, value: UNKNOWN };
    },
    check: () => Promise.resolve({ ok: true, value: answers.shift() ?? null }),
  };
  vi.useFakeTimers();
  try {
    const end = carryOut(unsure, 'o', { operation: 'requeue', reason: 'why' }, batch, waiting);
    await vi.runAllTimersAsync();
    expect(await end).toEqual({ halt: { why: 'absent' } });
  } finally {
    vi.useRealTimers();
  }
  expect(sent).toHaveLength(1);
});

test('a batch is sent as it was decided, however often and whatever its events have become', async () => {
  const table = new Map([['1', 'v1']]);
  const { actions, looks, sent } = consoleOver(table);
  const batch = {
    key: 'k/2',
    events: [
      { id: '1', version: 'v1' },
      { id: '2', version: NOT_THERE },
    ],
  };
  const request = { operation: 'restore', reason: 'why' };
  await carryOut(actions, 'o', request, batch, waiting);
  table.set('1', 'v2');
  table.set('2', 'v2');
  await carryOut(actions, 'o', request, batch, waiting);
  expect(sent[1]).toEqual(sent[0]);
  expect(looks).toEqual([]);
});
