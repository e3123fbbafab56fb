import { expect, test } from 'vitest';
import type { Approval, Plan } from '@/lib/shared/runs/plans';
import { stateOfPlan } from './planned';
import { idsOf } from './plans-screen';

const standing = (state: Plan['state'], answered: Approval['state'] | null): string =>
  stateOfPlan({ state, approval: answered === null ? null : ({ state: answered } as Approval) });

test('a plan says what it waits for, and a refusal stays one whatever changes later', () => {
  expect([standing('open', null), standing('started', null)]).toEqual(['open', 'started']);
  for (const answered of ['requested', 'approved', 'refused', 'expired'] as const) expect(standing('open', answered)).toBe(answered);
  expect(standing('started', 'approved')).toBe('started');
  expect([standing('void', 'requested'), standing('expired', 'requested')]).toEqual(['void', 'expired']);
  expect([standing('void', 'refused'), standing('expired', 'refused')]).toEqual(['refused', 'refused']);
});

test('pasted ids may stand in lines, with commas or with spaces, and count once', () => {
  expect(idsOf(' a1\nb2, c3;d4\tb2\r\n')).toEqual(['a1', 'b2', 'c3', 'd4']);
  expect(idsOf(' \n ')).toEqual([]);
});
