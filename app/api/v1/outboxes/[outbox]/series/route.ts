import { readSeries } from '@/lib/server/reads/figures';
import { defineRoute } from '@/lib/server/route';
import { ofOutbox } from '@/lib/server/schemas';
import { seriesQuery } from '@/lib/server/series-query';
import { seriesCsv, seriesFileName } from '@/lib/shared/figures/series-csv';

export const GET = defineRoute({
  id: 'api.series',
  permission: 'outbox:read',
  params: ofOutbox,
  query: seriesQuery,
  run: async (context, { params: { outbox }, query: { format, ...query }, request }) => {
    const series = await readSeries(context, outbox, query);
    const wantsCsv = request.headers.get('accept')?.includes('text/csv') === true;
    if ((format ?? (wantsCsv ? 'csv' : 'json')) === 'json') return series;
    return new Response(seriesCsv(series), {
      headers: {
        'Content-Type': 'text/csv; charset=utf-8; header=present',
        'Content-Disposition': `attachment; filename="${seriesFileName(outbox, series)}"`,
      },
    });
  },
});
