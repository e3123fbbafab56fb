import { z } from 'zod';
import { DEFAULT_WINDOW, WINDOWS, spanProblem, type SeriesSpan, type SpanProblem } from '@/lib/shared/figures/windows';
import { instant, typeSchema } from './schemas';

const SPAN_PROBLEMS: Record<SpanProblem, string> = {
  not_a_time: 'write a time such as 2026-11-21T14:00:00Z',
  backwards: 'write a time after from',
  too_short: 'write a time at least 15 minutes after from',
  too_long: 'write a time at most 90 days after from',
};

const ownSpan = z
  .strictObject({ from: instant, to: instant })
  .superRefine(({ from, to }, check) => {
    const problem = spanProblem(from, to);
    if (problem !== null) check.addIssue({ code: 'custom', path: ['to'], message: SPAN_PROBLEMS[problem] });
  })
  .transform(({ from, to }) => ({ from: new Date(from).toISOString(), to: new Date(to).toISOString() }));

export const spanSchema: z.ZodType<SeriesSpan, SeriesSpan> = z.union([z.strictObject({ window: z.enum(WINDOWS) }), ownSpan]);

/** The query of a series: `window`, or `from` with `to`; of all events or of one `type`; as JSON or as CSV. */
export const seriesQuery = z
  .strictObject({
    window: z.enum(WINDOWS, `write one of ${WINDOWS.join(', ')}`).optional(),
    from: instant.optional(),
    to: instant.optional(),
    type: typeSchema.optional(),
    format: z.enum(['json', 'csv'], 'write json or csv').optional(),
  })
  .transform(({ window, from, to, ...rest }, check) => {
    const refuse = (field: string, message: string): never => {
      check.addIssue({ code: 'custom', path: [field], message });
      return z.NEVER;
    };
    const answer = (span: SeriesSpan) => ({ ...rest, span });
    if (from === undefined && to === undefined) return answer({ window: window ?? DEFAULT_WINDOW });
    if (window !== undefined) return refuse('window', 'write either window, or from and to');
    if (from === undefined || to === undefined) return refuse(from === undefined ? 'from' : 'to', 'write both from and to');
    const span = ownSpan.safeParse({ from, to });
    return span.success ? answer(span.data) : refuse('to', span.error.issues[0]?.message ?? '');
  });
