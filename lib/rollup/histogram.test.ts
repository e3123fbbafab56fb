import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addTo, bucketBounds, bucketOf, bucketValue, mergeInto, RELATIVE_ERROR, type Histogram } from './histogram';
import { quantiles } from '@/lib/figures/latency';
import { addCell, decodeCell, emptyCell, encodeCell, type Cell } from './cell';

const of = (values: number[]): Histogram => {
  const histogram: Histogram = new Map();
  for (const value of values) addTo(histogram, bucketOf(value));
  return histogram;
};

/** percentile_cont of PostgreSQL. */
function exactly(values: number[], fraction: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const rank = fraction * (sorted.length - 1);
  const low = sorted[Math.floor(rank)] ?? 0;
  return low + ((sorted[Math.ceil(rank)] ?? 0) - low) * (rank - Math.floor(rank));
}

const durations = fc.double({ min: 0.001, max: 1e10, noNaN: true });

describe('a histogram of durations', () => {
  it('puts every value into the bucket whose bounds hold it', () => {
    fc.assert(
      fc.property(durations, (value) => {
        const { from, to } = bucketBounds(bucketOf(value));
        expect(value).toBeGreaterThanOrEqual(from * (1 - 1e-12));
        expect(value).toBeLessThanOrEqual(to * (1 + 1e-12));
      }),
    );
  });

  it('tells powers of two, where a logarithm may fall on either side, within its error', () => {
    for (let octave = -9; octave < 40; octave += 1) {
      for (const value of [2 ** octave, 2 ** octave * (1 - 1e-13), 2 ** octave * (1 + 1e-13)]) {
        expect(Math.abs(bucketValue(bucketOf(value)) - value) / value).toBeLessThanOrEqual(RELATIVE_ERROR + 1e-9);
      }
    }
  });

  it('gives the quantiles of percentile_cont within its error, whatever the data', () => {
    fc.assert(
      fc.property(fc.array(durations, { minLength: 1, maxLength: 200 }), fc.constantFrom(0.5, 0.95, 0.99), (values, fraction) => {
        const exact = exactly(values, fraction);
        const told = quantiles(of(values), [fraction])[0] ?? NaN;
        expect(Math.abs(told - exact) / exact).toBeLessThanOrEqual(RELATIVE_ERROR + 1e-9);
      }),
    );
  });

  it('lies between two modes where percentile_cont does', () => {
    const values = [...Array.from({ length: 50 }, () => 10), ...Array.from({ length: 50 }, () => 1_000)];
    expect(quantiles(of(values), [0.5])[0]).toBeCloseTo(505, -1);
  });

  it('has no quantile when empty, and holds durations of nothing and less in one bucket', () => {
    expect(quantiles(new Map(), [0.5, 0.99])).toEqual([null, null]);
    expect([bucketOf(0), bucketOf(-5), bucketOf(NaN)]).toEqual([0, 0, 0]);
    expect(quantiles(of([0, -5]), [0.5])).toEqual([0]);
  });

  it('is the same whether merged or filled at once', () => {
    fc.assert(
      fc.property(fc.array(durations), fc.array(durations), (left, right) => {
        const merged = of(left);
        mergeInto(merged, of(right));
        expect([...merged].sort()).toEqual([...of([...left, ...right])].sort());
      }),
    );
  });
});

describe('a slot', () => {
  const cell: Cell = {
    how: 5,
    minutes: 1,
    published: 1_234_567,
    latency: of([0, 0.5, 12, 13, 5_000, 9e9]),
    latencySumMs: 9_000_005_025.5,
    negative: 3,
    processing: of([7]),
    created: 300,
    retries: 4,
    failures: 5,
    died: 1,
    resolutionMs: 1_000,
    variance: 83_333.25,
    biasMs: 40.5,
    depth: { samples: 12, waitingSum: 4_000, waitingMax: 900, waitingLast: 10, deadLast: -1, oldestAgeMaxMs: 12_345 },
  };

  it('comes back from its bytes as it was', () => {
    expect(decodeCell(encodeCell(cell))).toEqual(cell);
    expect(decodeCell(encodeCell(emptyCell()))).toEqual(emptyCell());
  });

  it('of sampled events says that its error is not known where an older build wrote it, which reads the rest of ours', () => {
    const bytes = encodeCell(cell);
    const older = bytes.subarray(0, bytes.length - 16);
    expect(decodeCell(older)).toEqual({ ...cell, variance: Infinity, biasMs: Infinity });
    expect(decodeCell(encodeCell({ ...cell, how: 4, variance: 0, biasMs: 0 }))).toMatchObject({ how: 4, variance: 0, biasMs: 0 });
    expect(decodeCell(encodeCell(decodeCell(older)))).toEqual(decodeCell(older));
  });

  it('takes few bytes for few events', () => {
    const small = { ...emptyCell(), published: 9, latency: of([100, 110, 120, 130, 140, 150, 160, 400, 900]), latencySumMs: 2_210 };
    expect(encodeCell(small).length).toBeLessThanOrEqual(50);
  });

  it('adds up, keeping the last depth and the greatest age', () => {
    const sum = emptyCell();
    addCell(sum, cell);
    addCell(sum, { ...cell, depth: { samples: 1, waitingSum: 7, waitingMax: 7, waitingLast: 7, deadLast: 2, oldestAgeMaxMs: 1 } });
    expect(sum.published).toBe(2_469_134);
    expect(sum.depth).toEqual({ samples: 13, waitingSum: 4_007, waitingMax: 900, waitingLast: 7, deadLast: 2, oldestAgeMaxMs: 12_345 });
  });

  it('is refused when it is of another version or cut short', () => {
    expect(() => decodeCell(Buffer.from([9]))).toThrow(/version 9/);
    expect(() => decodeCell(encodeCell(cell).subarray(0, 12))).toThrow(RangeError);
  });
});
