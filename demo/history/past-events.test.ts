import { describe, expect, it } from 'vitest';
import { createRandom } from '../random';
import { demoOutboxes } from '../outboxes/all';
import { pastEvents } from './past-events';

const NOW = Date.parse('2026-03-04T12:00:00Z');

describe.each(demoOutboxes().map((outbox) => [outbox.id, outbox] as const))('the history of %s', (_id, outbox) => {
  const events = () => {
    const random = createRandom('seed');
    return pastEvents(random, outbox.story(random.fork('story')), NOW, outbox.liveRate, outbox.past);
  };

  it('is the same for the same seed', () => {
    expect(events().slice(-50)).toEqual(events().slice(-50));
  });

  it('covers seven days with fifteen to thirty thousand events, none in the future, none sent before it was made', () => {
    const all = events();
    expect(all.length).toBeGreaterThan(15_000);
    expect(all.length).toBeLessThan(30_000);
    expect(NOW - (all[0]?.createdAt.getTime() ?? 0)).toBeGreaterThan(6.9 * 86_400_000);
    expect(
      all.every(
        ({ createdAt, endedAt }) => createdAt.getTime() < NOW && (endedAt === null || (endedAt >= createdAt && endedAt.getTime() < NOW)),
      ),
    ).toBe(true);
    expect(new Set(all.map(({ event }) => event.id)).size).toBe(all.length);
    expect(new Set(all.map(({ event }) => event.dedupKey)).size).toBe(all.length);
  });

  it('has quiet nights and ends at about the rate of live traffic', () => {
    const all = events();
    const inHour = (hour: number) =>
      all.filter(({ createdAt }) => createdAt.getUTCHours() === hour && NOW - createdAt.getTime() > 7_200_000).length;
    expect(inHour(17)).toBeGreaterThan(3 * inHour(5));
    const lastMinutes = all.filter(({ createdAt }) => NOW - createdAt.getTime() < 300_000).length;
    expect(lastMinutes / 300 / outbox.liveRate).toBeGreaterThan(0.7);
    expect(lastMinutes / 300 / outbox.liveRate).toBeLessThan(1.3);
  });

  it('publishes around its median and has the dead it should have', () => {
    const all = events();
    const latencies = all
      .flatMap(({ state, createdAt, endedAt }) => (state === 'published' && endedAt ? [endedAt.getTime() - createdAt.getTime()] : []))
      .sort((a, b) => a - b);
    const median = latencies[Math.floor(latencies.length / 2)] ?? 0;
    expect(median / outbox.past.medianMs).toBeGreaterThan(0.9);
    expect(median / outbox.past.medianMs).toBeLessThan(1.15);
    expect(all.filter(({ state }) => state === 'dead')).toHaveLength(outbox.past.dead?.count ?? 0);
    expect(all.filter(({ state }) => state === 'pending').length > 0).toBe(outbox.past.stoppedForMs > 0);
  });
});
