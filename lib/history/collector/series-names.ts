import { type Additions, ALL_TYPES, OTHER_TYPES, seriesOfType, TYPES_KEPT, typeOfSeries, addCell, type Cell } from '@/lib/rollup/cell';

/** Gives event types their series: the first two hundred of an outbox have one each, the rest share one. */
export class SeriesNames {
  private readonly known: Set<string>;

  /** `series` are those the history has already. */
  constructor(series: Iterable<string>) {
    this.known = new Set([...series].filter((one) => typeOfSeries(one) !== null));
  }

  /** A type seen for the first time takes a place, while there is one. */
  of(type: string | null): string {
    if (type === null) return OTHER_TYPES;
    const series = seriesOfType(type);
    if (!this.known.has(series)) {
      if (this.known.size >= TYPES_KEPT) return OTHER_TYPES;
      this.known.add(series);
    }
    return series;
  }

  /** The series an event counts into. */
  allOf(type: string | null): [string, string] {
    return [ALL_TYPES, this.of(type)];
  }

  /** The same additions under the series there are: types beyond the last place are put together. */
  rename(additions: Additions): Additions {
    return new Map(
      [...additions].map(([minute, series]) => {
        const renamed = new Map<string, Cell>();
        for (const [name, cell] of series) {
          const type = typeOfSeries(name);
          const own = type === null ? name : this.of(type);
          const there = renamed.get(own);
          if (there === undefined) renamed.set(own, cell);
          else addCell(there, cell);
        }
        return [minute, renamed];
      }),
    );
  }
}
