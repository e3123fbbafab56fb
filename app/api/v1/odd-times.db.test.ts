/** A time that no clock shows is the asker's mistake, wherever it is written: never a failure of the console or of a database. */
import { describe, expect, it } from 'vitest';
import { publishedAt } from '@/lib/shape/catalog/published-at';
import { workerStatus } from '@/lib/shape/catalog/worker-status';
import { useTestConsole } from '@/scripts/testing/console';
import { parseChartView } from '@/lib/shared/figures/chart-view';
import { useTestDatabase } from '@/scripts/testing/database';
import { useTestMysql } from '@/scripts/testing/mysql';
import { createSample, tableOf } from '@/scripts/testing/outbox';
import { GET as audit } from './audit/route';
import { GET as marks, POST as mark } from './marks/route';
import { GET as events } from './outboxes/[outbox]/events/route';
import { GET as series } from './outboxes/[outbox]/series/route';

const store = useTestDatabase();
const postgres = useTestDatabase((db) => createSample(db, publishedAt));
const mysql = useTestMysql((db) => createSample(db, workerStatus));
const { callAs } = useTestConsole(
  () => store.url,
  () => `
databases: {p: {url: '${postgres.url}'}, m: {url: '${mysql.url}'}}
outboxes:
  - {id: p, database: p, table: '${tableOf(publishedAt, 'main').replaceAll('"', '')}', shape: published-at}
  - {id: m, database: m, table: '${tableOf(workerStatus, 'main', 'mysql').replaceAll('`', '')}', shape: worker-status}
`,
);

const NO_TIMES = [
  '0000-01-01T00:00:00Z',
  '0000-12-31T23:59:59.999999Z',
  '0001-01-01T00:00:00+14:00',
  '9999-12-31T23:59:59-12:00',
  '-0001-01-01T00:00:00Z',
  '+010000-01-01T00:00:00Z',
  '10000-01-01T00:00:00Z',
  '294277-01-01T00:00:00Z',
  '+275760-09-13T00:00:00Z',
  '2026-02-30T00:00:00Z',
  '2026-01-01T24:00:00Z',
  '2026-01-01T00:00:60Z',
  '2026-01-01',
  'infinity',
  'now',
  '💩',
];
/** Times that are none of this world, but that a clock could show. */
const FAR_TIMES = [
  '0001-01-01T00:00:00Z',
  '1582-10-10T00:00:00Z',
  '5000-01-01T00:00:00Z',
  '9999-12-31T23:59:59Z',
  '2026-01-01T00:00:00+23:59',
];

const asked = (query: Record<string, string>): string => `/?${new URLSearchParams(query).toString()}`;
/** The time before or after which a span with it is long enough and not too long. */
const with90Days = (time: string, days: number): string => {
  const at = new Date(Date.parse(time) + days * 86_400_000);
  return Number.isNaN(at.getTime()) ? '2026-01-01T00:00:00Z' : at.toISOString();
};

describe.each(['p', 'm'])('of outbox %s', (outbox) => {
  const params = { outbox };

  it.each(NO_TIMES)('%s is refused by every list and series', async (time) => {
    for (const end of ['from', 'to']) {
      const query = { [end]: time };
      expect((await callAs('viewer', events, { params, path: asked(query) })).status, 'events').toBe(400);
      expect((await callAs('viewer', audit, { path: asked(query) })).status, 'audit').toBe(400);
      expect((await callAs('viewer', marks, { path: asked(query) })).status, 'marks').toBe(400);
    }
    const spans = [
      { from: time, to: with90Days(time, 30) },
      { from: with90Days(time, -30), to: time },
    ];
    for (const query of spans) expect((await callAs('viewer', series, { params, path: asked(query) })).status, 'series').toBe(400);
    expect((await callAs('operator', mark, { method: 'POST', body: { kind: 'note', text: 'x', at: time } })).status, 'mark').toBe(400);
  });

  it.each(FAR_TIMES)('%s finds nothing, or is refused', async (time) => {
    for (const end of ['from', 'to']) {
      const query = { [end]: time };
      expect((await callAs('viewer', events, { params, path: asked(query) })).status, 'events').toBe(200);
      expect((await callAs('viewer', audit, { path: asked(query) })).status, 'audit').toBe(200);
      expect((await callAs('viewer', marks, { path: asked(query) })).status, 'marks').toBe(200);
    }
    for (const query of [
      { from: time, to: with90Days(time, 30) },
      { from: with90Days(time, -30), to: time },
    ])
      expect((await callAs('viewer', series, { params, path: asked(query) })).status, 'series').toBeLessThan(500);
  });
});

it('no cursor of the audit brings one in', async () => {
  for (const at of [...NO_TIMES, ...FAR_TIMES, '2026-01-01T00:00:00Z) or (true']) {
    const cursor = Buffer.from(`${at} 00000000-0000-4000-8000-000000000000`).toString('base64url');
    expect((await callAs('viewer', audit, { path: asked({ cursor }) })).status, at).toBeLessThan(500);
  }
});

it('an address with one shows the charts of a window instead', () => {
  const { window } = parseChartView(new URLSearchParams());
  for (const time of NO_TIMES) {
    const search = new URLSearchParams({ from: time, to: with90Days(time, 30) });
    expect(parseChartView(search).span, time).toEqual({ window });
  }
});
