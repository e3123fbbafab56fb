import type { Series, SeriesPoint } from './model';

/** A point with its flow per minute, which can be compared across steps and with the figures of now. */
export interface RatedPoint extends SeriesPoint {
  createdPerMinute: number | null;
  publishedPerMinute: number | null;
  /** The step is still under way: its counts will grow. */
  underWay: boolean;
}

/** The points of a series with events per minute; null for a step under way, which drawn would look like a fall. */
export function ratedPoints({ points, stepSeconds, asOf }: Pick<Series, 'points' | 'stepSeconds' | 'asOf'>): RatedPoint[] {
  const now = Date.parse(asOf);
  return points.map((point) => {
    const underWay = Date.parse(point.at) + stepSeconds * 1_000 > now;
    const rate = (count: number | null) => (count === null || underWay ? null : (count * 60) / stepSeconds);
    return { ...point, createdPerMinute: rate(point.created), publishedPerMinute: rate(point.published), underWay };
  });
}
