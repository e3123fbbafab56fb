import { expect, it } from 'vitest';
import type { Examination } from './doctor';
import { examinationsAsMarkdown, type Reader } from './doctor-text';

const reader: Reader = { locale: 'en', timeZone: 'UTC', say: (key) => key, has: (key) => key !== 'doctor.unseen.odd' };
const examined = (unseen: Examination['unseen']): Examination => ({
  outbox: 'a', name: 'A', database: 'd', engine: 'mysql', table: 'a', at: '2026-11-21T00:00:00Z', tookMs: 1, findings: [], tables: [], statisticsSince: null, unseen, problem: null,
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
