import type { Series, SeriesPoint } from '../model';

/** A point with its flow per minute, which can be compared across steps and with the figures of now. */
export interface RatedPoint extends SeriesPoint {
  createdPerMinute: number | null;
  publishedPerMinute: number | null;
  /** The step is still under way: its counts will grow. */
  underWay: boolean;
}

/** In less time nothing can be said per minute. */
const RATED_AFTER_SECONDS = 60;

/** The points of a series with events per minute: of a step under way over the time it has lasted, null where it has only begun. */
export function ratedPoints({ points, stepSeconds, asOf }: Pick<Series, 'points' | 'stepSeconds' | 'asOf'>): RatedPoint[] {
  const now = Date.parse(asOf);
  return points.map((point) => {
    const lastedSeconds = (now - Date.parse(point.at)) / 1_000;
    const underWay = lastedSeconds < stepSeconds;
    const seconds = Math.min(lastedSeconds, stepSeconds);
    const rate = (count: number | null) => (count === null || seconds < RATED_AFTER_SECONDS ? null : (count * 60) / seconds);
    // What has only begun is not known yet, which is no gap.
    const gap = point.gap && !underWay;
    return { ...point, gap, createdPerMinute: rate(point.created), publishedPerMinute: rate(point.published), underWay };
  });
}
