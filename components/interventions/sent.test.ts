import { beforeEach, expect, test, vi } from 'vitest';
import { forgetSent, keepSent, sentBy, type Sent } from './sent';

const sent = (key: string, over: Partial<Sent> = {}): Sent => ({
  key,
  account: 'anna@example.com',
  outbox: 'escrow',
  outboxName: 'Escrow',
  operation: 'requeue',
  count: 1,
  sentAt: Date.now(),
  ...over,
});

beforeEach(() => {
  const kept = new Map<string, string>();
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  });
});

test('what was sent is there until it is forgotten, each for who sent it', () => {
  const [one, two, other] = [sent('1'), sent('2'), sent('3', { account: 'ben@example.com' })];
  for (const each of [one, two, other]) keepSent(each);
  keepSent(one);
  expect(sentBy('anna@example.com')).toEqual([two, one]);
  forgetSent('2');
  expect(sentBy('anna@example.com')).toEqual([one]);
  expect(sentBy('ben@example.com')).toEqual([other]);
});

test('what nobody answers any more is left out, and so is what others have written there', () => {
  keepSent(sent('old', { sentAt: Date.now() - 91 * 86_400_000 }));
  expect(sentBy('anna@example.com')).toEqual([]);
  localStorage.setItem('outbox-console.sent', '{"a": 1');
  expect(sentBy('anna@example.com')).toEqual([]);
  localStorage.setItem('outbox-console.sent', '[1, null, {}]');
  expect(sentBy('anna@example.com')).toEqual([]);
});
