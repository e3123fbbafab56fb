import { describe, expect, it } from 'vitest';
import { createRandom } from './random';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('createRandom', () => {
  it('tells the same story from the same seed, another from another', () => {
    const draw = (seed: string) => {
      const random = createRandom(seed);
      return [random.float(), random.int(1, 1000), random.uuid(), random.logNormal(100, 0.5)];
    };
    expect(draw('a')).toEqual(draw('a'));
    expect(draw('a')).not.toEqual(draw('b'));
  });

  it('forks streams that do not disturb each other', () => {
    const plain = createRandom('a');
    const forked = createRandom('a');
    forked.fork('child').float();
    expect(forked.float()).toBe(plain.float());
    expect(createRandom('a').fork('x').float()).not.toBe(createRandom('a').fork('y').float());
  });

  it('keeps to its ranges and its shape', () => {
    const random = createRandom('range');
    const drawn = Array.from({ length: 5_000 }, () => random.int(3, 5));
    expect(new Set(drawn)).toEqual(new Set([3, 4, 5]));
    const latencies = Array.from({ length: 5_001 }, () => random.logNormal(200, 0.6)).sort((a, b) => a - b);
    expect(latencies[2_500]).toBeGreaterThan(185);
    expect(latencies[2_500]).toBeLessThan(215);
    const waits = Array.from({ length: 5_000 }, () => random.wait(4));
    expect(waits.reduce((sum, wait) => sum + wait, 0) / waits.length).toBeCloseTo(0.25, 1);
    expect(random.uuid()).toMatch(UUID);
  });
});
