import { environmentManager, QueryClient, QueryObserver } from '@tanstack/react-query';
import { expect, test, vi } from 'vitest';
import { resultOf } from '@/fixtures/intervention-result';
import { batchesOf, progressOf, type SeenEvent } from '@/lib/shared/changes/batches';
import type { InterventionPreview, InterventionResult } from '@/lib/shared/model';
import type { InterventionActions } from '../frame/console';
import { UNANSWERED } from '../frame/use-change';
import { type End, NOT_THERE, outcomeOptions, readVersions, runBatches, sendBatch } from './send';

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
    follow: () => Promise.resolve({ ok: true, value: {} }),
  };
  return { actions, looks, sent };
}

const unseen = (count: number): SeenEvent[] => Array.from({ length: count }, (_, i) => ({ id: String(i), version: '' }));
const tableOf = (events: SeenEvent[]) => new Map(events.map(({ id }) => [id, `v${id}`]));
const restore = { subject: { id: 'o', name: 'O' }, operation: 'restore' };
const { signal: open } = new AbortController();

test('events that are to be undone are all looked at before anything is sent, 200 at a time', async () => {
  const events = unseen(450);
  const { actions, looks, sent } = consoleOver(tableOf(events));
  const seen = await readVersions(actions.preview, restore, events, open);
  expect(seen).toEqual({ ok: true, value: events.map(({ id }) => ({ id, version: `v${id}` })) });
  expect(looks.map((some) => some.length)).toEqual([200, 200, 50]);
  expect(sent).toEqual([]);
});

test('an event that is not there is looked at like any other: it has a version no row has', async () => {
  const events = unseen(3);
  const table = tableOf(events);
  table.delete('1');
  const { actions } = consoleOver(table);
  const seen = await readVersions(actions.preview, restore, events, open);
  expect(seen.ok && seen.value[1]).toEqual({ id: '1', version: NOT_THERE });
});

test('events that were seen are not looked at again', async () => {
  const { actions, looks } = consoleOver(new Map());
  const events = [{ id: '1', version: 'v1' }];
  expect(await readVersions(actions.preview, restore, events, open)).toEqual({ ok: true, value: events });
  expect(looks).toEqual([]);
});

test('nobody looks on when the dialog has gone, and a refusal ends the look', async () => {
  const { actions, looks } = consoleOver(new Map());
  const dialog = new AbortController();
  const preview: InterventionActions['preview'] = (input) => {
    dialog.abort();
    return actions.preview(input);
  };
  await readVersions(preview, restore, unseen(600), dialog.signal);
  expect(looks).toHaveLength(1);
  const broken = () => Promise.reject(new Error('Failed to fetch'));
  expect(await readVersions(broken, restore, unseen(600), open)).toMatchObject({ ok: false, problem: { code: 'unavailable' } });
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
  expect(await sendBatch(unsure.intervene, 'o', { operation: 'requeue', reason: 'why' }, batch)).toBeNull();
  vi.useFakeTimers();
  // Without a window nothing is asked in intervals.
  environmentManager.setIsServer(() => false);
  const observer = new QueryObserver(new QueryClient(), outcomeOptions(unsure.check, { outbox: 'o', key: 'k', sentAt: Date.now() }));
  const stop = observer.subscribe(() => undefined);
  try {
    await vi.waitFor(() => expect(observer.getCurrentResult().data).toEqual({ halt: { why: 'absent' } }), { timeout: 10_000 });
    expect(answers).toEqual([]);
  } finally {
    stop();
    environmentManager.setIsServer(() => true);
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
  await sendBatch(actions.intervene, 'o', request, batch);
  table.set('1', 'v2');
  table.set('2', 'v2');
  await sendBatch(actions.intervene, 'o', request, batch);
  expect(sent[1]).toEqual(sent[0]);
  expect(looks).toEqual([]);
});

test('a run ends between two batches when told to, and goes on with the next one', async () => {
  const batches = batchesOf('key', unseen(700));
  const sent: string[] = [];
  const results: InterventionResult[] = [];
  const go = (from: number, stopAt: number) =>
    runBatches(batches, from, {
      halted: (index) => (index === stopAt ? { why: 'stopped' } : null),
      send: ({ key, events: part }) => {
        sent.push(key);
        return Promise.resolve({ result: resultOf(part.map(({ id }) => id)) });
      },
      onResult: (one) => results.push(one),
    });
  expect(await go(0, 2)).toEqual({ why: 'stopped' });
  expect(progressOf(batches, results)).toEqual({ total: 700, changed: 400, skipped: 0 });
  expect(await go(results.length, -1)).toBeNull();
  expect(sent).toEqual(['key/1', 'key/2', 'key/3', 'key/4']);
});

test('a batch that fails ends the run, and the ones after it are not sent', async () => {
  const ends: End[] = [{ result: resultOf(['0']) }, { halt: { why: 'problem', problem: UNANSWERED } }];
  const sent: string[] = [];
  const halt = await runBatches(batchesOf('key', unseen(700)), 0, {
    halted: () => null,
    send: ({ key }) => {
      sent.push(key);
      return Promise.resolve(ends[sent.length - 1] ?? 'gone');
    },
    onResult: () => undefined,
  });
  expect(halt).toEqual({ why: 'problem', problem: UNANSWERED });
  expect(sent).toEqual(['key/1', 'key/2']);
});
