import { describe, expect, it } from 'vitest';
import type { Examination } from './doctor';
import { examinationsAsCsv, examinationsAsMarkdown, type Reader } from './doctor-text';

const reader: Reader = { locale: 'en', timeZone: 'UTC', say: (key) => key, has: (key) => key !== 'doctor.unseen.odd' };
const examined = (unseen: Examination['unseen'], findings: Examination['findings'] = []): Examination => ({
  outbox: 'a', name: 'A', database: 'd', engine: 'mysql', table: 'a', at: '2026-11-21T00:00:00Z', tookMs: 1, findings, tables: [], statisticsSince: null, unseen, problem: null,
}); // prettier-ignore

it('what nobody looked at stands beside “nothing found”, with each grant that would change it once', () => {
  const grant = 'GRANT PROCESS ON *.* TO r;';
  const text = examinationsAsMarkdown(
    [
      examined([
        { code: 'server', cure: grant },
        { code: 'rows', cure: null },
        { code: 'odd', cure: grant },
      ]),
    ],
    reader,
  );
  expect(text).toContain('doctor.healthy\n\n### doctor.unseenTitle\n\n- doctor.unseen.server\n- doctor.unseen.rows\n- odd\n');
  expect(text.split(grant)).toHaveLength(2);
  expect(examinationsAsMarkdown([examined([])], reader)).not.toContain('unseenTitle');
});

describe('what others wrote', () => {
  const silenced = (reason: string): Examination =>
    examined(
      [],
      [
        {
          id: 'index_dead:odd\u202e',
          check: 'index_dead',
          severity: 'watch',
          subject: 'odd\u202e',
          values: { index: 'odd\u202e' },
          cure: 'DROP INDEX "odd\u202e";',
          silence: { reason, actor: '\u2066ops', at: '2026-11-21T00:00:00Z' },
        },
      ],
    );

  it('cannot turn the text around it in an export, nor stand in it as a heading of its own', () => {
    const reason = 'fine\u202e\n# all is well\u0007';
    const markdown = examinationsAsMarkdown([silenced(reason)], { ...reader, say: (key, values) => `${key} ${values?.actor ?? ''}` });
    expect(markdown).toContain('_doctor.silencedBy \\u2066ops: fine\\u202e # all is well\\u0007_\n');
    const csv = examinationsAsCsv([silenced(reason)], reader);
    expect(csv).toContain('\\u2066ops,"fine\\u202e\n# all is well\\u0007"\r\n');
    // The statement is run as it stands: an index keeps its name.
    for (const text of [markdown, csv]) expect(text.match(/[\u202e\u2066\u0007]/g)).toEqual(['\u202e']);
  });

  it.each(['=HYPERLINK("http://x")', '+1', '-1', '@SUM(1)', '\t=1', '\r=1'])('%j is no formula in a spreadsheet', (reason) => {
    const [, line = ''] = examinationsAsCsv([silenced(reason)], reader).split(/\r\n(?=a,)/);
    expect(line).toContain(`'${reason.replaceAll('"', '""')}`);
  });
});
