import type { Series } from '../model';

/** A point with events and attempts per minute, comparable across steps and with current figures. */
export type RatedPoint = ReturnType<typeof ratedPoints>[number];

const RATED_AFTER_SECONDS = 60;

/** Points with rates per minute; an unfinished step counts its time so far, and is null in its first minute. */
export function ratedPoints({ points, stepSeconds, asOf }: Pick<Series, 'points' | 'stepSeconds' | 'asOf'>) {
  const now = Date.parse(asOf);
  return points.map((point) => {
    const lastedSeconds = (now - Date.parse(point.at)) / 1_000;
    // The step has not ended: its counts will grow.
    const underWay = lastedSeconds < stepSeconds;
    const seconds = Math.min(lastedSeconds, stepSeconds);
    const rate = (count: number | null) => (count === null || seconds < RATED_AFTER_SECONDS ? null : (count * 60) / seconds);
    // An unfinished step without values is not a gap.
    const gap = point.gap && !underWay;
    const events = { createdPerMinute: rate(point.created), publishedPerMinute: rate(point.published) };
    return { ...point, ...events, retriesPerMinute: rate(point.retries), errorsPerMinute: rate(point.errors), gap, underWay };
  });
}

/** The most that was published per minute in any step: nearer to what a relay can do than an average. 0 where none is known. */
export const mostPublished = (series: Parameters<typeof ratedPoints>[0]): number =>
  Math.max(0, ...ratedPoints(series).map(({ publishedPerMinute }) => publishedPerMinute ?? 0));
