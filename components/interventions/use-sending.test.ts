import { environmentManager, QueryClient, QueryObserver } from '@tanstack/react-query';
import { expect, test, vi } from 'vitest';
import type { InterventionRequest, InterventionResult } from '@/lib/shared/model';
import type { InterventionActions } from '../frame/console';
import { outcomeOptions, sendOnce } from './use-sending';

/** A console that keeps what was sent to it. */
function consoleOf() {
  const sent: InterventionRequest[] = [];
  const actions: InterventionActions = {
    preview: () => Promise.reject(new Error('nothing is looked at')),
    intervene: ({ request }) => {
      sent.push(request);
      return Promise.resolve({
        ok: true,
        value: { outcome: 'applied', changed: request.events.map(({ id }) => id), skipped: [] } as unknown as InterventionResult,
      });
    },
    check: () => Promise.resolve({ ok: true, value: null }),
    follow: () => Promise.reject(new Error('nothing is followed')),
  };
  return { actions, sent };
}

const UNKNOWN = { outcome: 'unknown', at: null, changed: [], skipped: [] } as unknown as InterventionResult;
const request = { operation: 'requeue', events: [{ id: '1', version: 'v1' }], reason: 'why' };

test('an unknown outcome is asked after and not sent again; one that was never committed is as if it had not been sent', async () => {
  const { actions, sent } = consoleOf();
  const answers = [UNKNOWN, { ...UNKNOWN, outcome: 'none' as const }];
  const unsure: InterventionActions = {
    ...actions,
    intervene: async (input) => {
      await actions.intervene(input);
      return { ok: true, value: UNKNOWN };
    },
    check: () => Promise.resolve({ ok: true, value: answers.shift() ?? null }),
  };
  expect(await sendOnce(unsure.intervene, 'o', request, 'k')).toBeNull();
  vi.useFakeTimers();
  // Without a window nothing is asked in intervals.
  environmentManager.setIsServer(() => false);
  const observer = new QueryObserver(new QueryClient(), outcomeOptions(unsure.check, { outbox: 'o', key: 'k', sentAt: Date.now() }));
  const stop = observer.subscribe(() => undefined);
  try {
    await vi.waitFor(() => expect(observer.getCurrentResult().data).toEqual({ phase: 'absent' }), { timeout: 10_000 });
    expect(answers).toEqual([]);
  } finally {
    stop();
    environmentManager.setIsServer(() => true);
    vi.useRealTimers();
  }
  expect(sent).toEqual([request]);
});

test('what is refused is told as such, and no answer is no outcome', async () => {
  const { actions } = consoleOf();
  expect(await sendOnce(actions.intervene, 'o', request, 'k')).toMatchObject({ phase: 'done', result: { outcome: 'applied' } });
  const refused = () => Promise.resolve({ ok: false as const, problem: { code: 'read_only' as const, detail: '' } });
  expect(await sendOnce(refused, 'o', request, 'k')).toMatchObject({ phase: 'refused', problem: { code: 'read_only' } });
  const running = () => Promise.resolve({ ok: false as const, problem: { code: 'in_progress' as const, detail: '' } });
  for (const unheard of [running, () => Promise.reject(new Error('Failed to fetch'))])
    expect(await sendOnce(unheard, 'o', request, 'k')).toBeNull();
});
