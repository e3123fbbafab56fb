import { type AbstractIntlMessages, createTranslator } from 'next-intl';
import { describe, expect, test } from 'vitest';
import en from '@/lib/messages/en.json';
import ko from '@/lib/messages/ko.json';
import { formatLatency } from '@/lib/shared/text/format';
import { DEFAULT_PACE, PAUSE_REASONS, type Run, RUN_STATES } from '@/lib/shared/runs/runs';
import { hueOfRun, sayRun, sharesOf } from './run-sentence';

const NONE = { published: 0, gone: 0, failedAgain: 0, waiting: 0, notKnown: 0 };

const runOf = ({ fates, ...over }: Omit<Partial<Run>, 'fates'> & { fates?: Partial<Run['fates']> } = {}): Run => ({
  ...{ id: 'r', plan: 'p', outbox: 'escrow', operation: 'requeue', reason: 'why', source: { cause: 'c' }, maker: 'mina@example.com' },
  ...{ state: 'running', because: null, pace: DEFAULT_PACE, followed: true, goneIsOut: false, window: { size: 0, next: 1 } },
  ...{ requested: 4_012, changed: 0, conflicted: 0, locked: 0, failed: 0, unknown: 0, remaining: 4_012 },
  ...{ firstOutMs: null, left: {}, error: null, createdAt: '', beganAt: null, endedAt: null, followedUntil: null, asOf: '', before: 0 },
  ...over,
  fates: { ...NONE, ...fates },
});

const LANGUAGES: Record<'en' | 'ko', AbstractIntlMessages> = { en, ko };
const failures: string[] = [];

function said(language: 'en' | 'ko', run: Run): string {
  const t = createTranslator({
    locale: language,
    messages: LANGUAGES[language],
    namespace: 'runs',
    onError: (error) => failures.push(error.message),
  });
  const latency = (ms: number): string => formatLatency(ms, language, (unit, value) => `${value} ${unit}`);
  const { title, advice } = sayRun(t, { latency }, run, 'Escrow');
  return advice === null ? title : `${title} | ${advice}`;
}

const out = { published: 3_998, failedAgain: 9 };
const STORY: [what: string, run: Run, sentence: string][] = [
  ['in the queue', runOf({ state: 'queued', before: 2 }), 'Waits: 2 other runs of Escrow go first.'],
  ['before the first', runOf(), 'Sending the first of 4,012.'],
  ['the first sent', runOf({ changed: 1, remaining: 4_011, fates: { waiting: 1 } }), '1 of 4,012 is sent. Watching what becomes of it'],
  [
    'the first out',
    runOf({ changed: 1, remaining: 4_011, firstOutMs: 1_400, window: { size: 1, next: 2 }, fates: { published: 1 } }),
    '1 of 4,012: published after 1.4 seconds. Going on with 2.',
  ],
  [
    'a window under way',
    runOf({ changed: 28, remaining: 3_984, firstOutMs: 1_400, window: { size: 20, next: 100 }, fates: { published: 8, waiting: 20 } }),
    '28 of 4,012 sent, 8 out. The relay still has 20; 100 go next.',
  ],
  [
    'the last window',
    runOf({ changed: 4_007, conflicted: 5, remaining: 0, fates: { published: 4_000, waiting: 7 } }),
    'All of 4,012 are dealt with. Waiting for what becomes of the last 7.',
  ],
  [
    'the cause returned',
    runOf({ state: 'paused', because: 'same_cause', changed: 5, conflicted: 3, remaining: 4_004, fates: { published: 4, failedAgain: 1 } }),
    'Stopped: 1 of 5 failed again for the same cause. 4,004 untouched. | The cause is still there.',
  ],
  [
    'an answer was lost',
    runOf({ changed: 28, unknown: 50, remaining: 3_934, fates: { published: 28 } }),
    'Of 50 events it is not known yet whether they were changed',
  ],
  [
    'done',
    runOf({ state: 'done', changed: 4_007, conflicted: 5, remaining: 0, fates: out }),
    '4,012: 3,998 out, 9 failed again, 5 skipped',
  ],
  ['all out', runOf({ state: 'done', changed: 4_012, remaining: 0, fates: { published: 4_012 } }), 'All 4,012 are out.'],
  [
    'paused before an answer came',
    runOf({ state: 'paused', because: 'operator', changed: 28, unknown: 50, remaining: 3_934, fates: { published: 28 } }),
    'Paused. 3,934 untouched. | Of 50 events it is not known yet whether they were changed',
  ],
  [
    'more than one failed again',
    runOf({ state: 'paused', because: 'same_cause', changed: 5, remaining: 4_007, fates: { published: 2, failedAgain: 3 } }),
    'Stopped: 3 of 5 failed again, at least one for the same cause. 4,007 untouched.',
  ],
  ['the only one', runOf({ requested: 1, changed: 1, remaining: 0, fates: { waiting: 1 } }), 'Sent. Watching what becomes of it.'],
  ['archived', runOf({ state: 'done', followed: false, changed: 4_012, remaining: 0 }), 'All 4,012 are done.'],
  ['cancelled', runOf({ state: 'cancelled', changed: 8, remaining: 4_004, fates: { published: 8 } }), 'Cancelled. 8 out, 4,004 untouched'],
];

describe('a run is one sentence', () => {
  test.each(STORY)('%s', (_, run, sentence) => {
    expect(said('en', run)).toContain(sentence);
  });

  test('for every state and every reason to stop, with what to do, in both languages', () => {
    const runs = [
      ...RUN_STATES.filter((state) => state !== 'paused').map((state) => runOf({ state })),
      ...PAUSE_REASONS.flatMap((because) => [null, 1_400].map((firstOutMs) => runOf({ state: 'paused', because, firstOutMs }))),
      ...STORY.map(([, run]) => run),
    ];
    for (const run of runs) {
      const [english, korean] = [said('en', run), said('ko', run)];
      expect(korean, english).toMatch(/\p{Script=Hangul}/u);
      expect(korean.includes('|'), english).toBe(run.state === 'paused');
      // Figures are the same in both.
      for (const figure of english.split(' | ')[0]?.match(/\d[\d,.]*\d/g) ?? []) expect(korean, english).toContain(figure);
    }
    expect(failures).toEqual([]);
  });
});

test('the parts of a bar are all events of a run, whatever it does', () => {
  const counts = { requested: 100, changed: 60, conflicted: 5, locked: 2, failed: 3, unknown: 10, remaining: 20 };
  const fates = { published: 30, gone: 5, failedAgain: 10, waiting: 10, notKnown: 5 };
  for (const followed of [true, false])
    for (const goneIsOut of [true, false]) {
      const shares = sharesOf(runOf({ ...counts, followed, goneIsOut, fates: followed ? fates : {} }));
      expect(Object.values(shares).reduce((a, b) => a + b, 0)).toBe(100);
    }
  expect(sharesOf(runOf({ ...counts, goneIsOut: true, fates }))).toMatchObject({ out: 35, waiting: 10, unknown: 10 });
});

test('only a run of which every event is out is green', () => {
  const done = { state: 'done', changed: 4_012, remaining: 0 } as const;
  expect(hueOfRun(runOf({ ...done, fates: { published: 4_012 } }))).toBe('green');
  expect(hueOfRun(runOf({ ...done, fates: { published: 4_011, waiting: 1 } }))).toBe('amber');
  expect(hueOfRun(runOf({ ...done, fates: { published: 4_011, failedAgain: 1 } }))).toBe('red');
  expect(hueOfRun(runOf({ state: 'paused', because: 'same_cause' }))).toBe('red');
  expect(hueOfRun(runOf({ state: 'paused', because: 'unavailable' }))).toBe('grey');
});
