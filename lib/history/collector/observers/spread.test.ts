import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRandom } from '@/demo/random';
import { spread, type Bounds, type Prior } from './spread';

const TICK_MS = 809;

/** Events at 300 a second for 20 s, looked at every tick: the bounds a look gives of each, and the truth. */
function observed(durationMs: (random: () => number, atMs: number) => number): { looks: Bounds[][]; truthMs: number[] } {
  const random = createRandom('spread');
  const looks = new Map<number, Bounds[]>();
  const truthMs: number[] = [];
  for (let atMs = 0; atMs < 20_000; atMs += -Math.log(1 - random.float()) * (1_000 / 300)) {
    const endMs = atMs + durationMs(() => random.float(), atMs);
    const [first, last] = [Math.floor(atMs / TICK_MS) + 1, Math.floor(endMs / TICK_MS) + 1];
    const fromMs = last === first ? 0 : (last - 1) * TICK_MS - atMs;
    looks.set(last, [...(looks.get(last) ?? []), { fromMs, toMs: last * TICK_MS - atMs, events: 1, unseen: false }]);
    truthMs.push(endMs - atMs);
  }
  return { looks: [...looks].sort(([a], [b]) => a - b).map(([, bounds]) => bounds), truthMs };
}

function placed(looks: Bounds[][]): number[] {
  let prior: Prior = [];
  const places: number[] = [];
  for (const bounds of looks) {
    const answer = spread(prior, places.length, bounds);
    prior = answer.prior;
    places.push(...answer.placesMs);
  }
  return places;
}

const quantile = (values: number[], fraction: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(fraction * values.length)] ?? NaN;
const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

describe('durations of which only bounds are known', () => {
  it.each<[string, (random: () => number, atMs: number) => number]>([
    ['a heavy tail', (random) => 155 * Math.exp(1.1 * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()))],
    ['falling off exponentially', (random) => -600 * Math.log(1 - random())],
    ['all alike, longer than a tick', () => 1_200],
    ['until the next of a relay’s rounds', (random, atMs) => 1_500 - (atMs % 1_500) + random() * 40],
    ['two kinds', (random) => (random() < 0.8 ? 40 : 1_400 + random() * 200)],
    ['a stall in the middle', (random, atMs) => (atMs > 8_000 && atMs < 13_000 ? 13_000 - atMs : 0) + 300 * random()],
  ])('%s: quantiles above the tick are within 15 %, the mean within 10 %', (_, durationMs) => {
    const { looks, truthMs } = observed(durationMs);
    const places = placed(looks);
    expect(places).toHaveLength(truthMs.length);
    for (const fraction of [0.5, 0.95, 0.99]) {
      const truth = quantile(truthMs, fraction);
      if (truth > TICK_MS) expect(Math.abs(quantile(places, fraction) / truth - 1), `p${String(fraction * 100)}`).toBeLessThan(0.15);
    }
    expect(Math.abs(mean(places) / mean(truthMs) - 1)).toBeLessThan(0.1);
  });

  it('lie within their bounds, and what is remembered stays finite', () => {
    const bounds = fc
      .tuple(
        fc.double({ min: 0, max: 1e9, noNaN: true }),
        fc.double({ min: 0.001, max: 1e6, noNaN: true }),
        fc.boolean(),
        fc.integer({ min: 1, max: 1_000 }),
      )
      .map(([fromMs, widthMs, unseen, events]): Bounds => ({
        fromMs: unseen ? 0 : fromMs,
        toMs: (unseen ? 0 : fromMs) + widthMs,
        events,
        unseen,
      }))
      .filter(({ fromMs, toMs }) => toMs > fromMs);
    fc.assert(
      fc.property(fc.array(fc.array(bounds, { maxLength: 20 }), { maxLength: 5 }), fc.nat(), (looks, drawn) => {
        let prior: Prior = [];
        for (const look of looks) {
          const answer = spread(prior, drawn, look);
          for (const [index, place] of answer.placesMs.entries()) {
            expect(place).toBeGreaterThanOrEqual((look[index]?.fromMs ?? 0) - 1e-6);
            expect(place).toBeLessThanOrEqual((look[index]?.toMs ?? 0) + 1e-6);
          }
          prior = answer.prior;
          expect(prior.every(([, events]) => Number.isFinite(events))).toBe(true);
        }
      }),
    );
  });

  it('lie evenly between equal bounds of which nothing else is known', () => {
    const even = Array.from({ length: 8 }, (): Bounds => ({ fromMs: 1_000, toMs: 1_040, events: 1, unseen: false }));
    const { placesMs } = spread([], 0, even);
    expect(Math.abs(mean(placesMs) - 1_020)).toBeLessThan(6);
    expect(new Set(placesMs).size).toBe(8);
  });
});
