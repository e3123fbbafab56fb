/** The doctor's findings as text for the screen, exports and the command line, in the words of the caller's catalogue. */
import type { Examination, Finding, FindingValues, Unseen } from './doctor';
import { field } from './figures/series-csv';
import * as format from './text/format';
import { visibleText } from './text/visible-text';

/** A reader's locale and texts; `say` and `has` take full keys of the catalogue. */
export interface Reader {
  locale: string;
  timeZone: string;
  say: (key: string, values?: Record<string, string>) => string;
  has: (key: string) => boolean;
}

/** What the catalogues' `select` matches for an unknown value. */
const NONE = 'none';

/** A finding's value, formatted by the unit in its name; null if unknown. */
export function valueText(name: string, value: string | number | null, { locale, timeZone, say }: Reader): string | null {
  if (value === null) return null;
  const sayUnit: format.SayUnit = (unit, text) => say(`units.${unit}`, { value: text });
  if (typeof value === 'string') return name.endsWith('At') ? format.formatAbsolute(value, timeZone) : visibleText(value);
  if (name.endsWith('Ms')) return value < 1_000 ? format.formatLatency(value, locale, sayUnit) : format.formatAge(value, locale, sayUnit);
  if (/bytes(PerDay)?$/i.test(name)) return format.formatBytes(value, locale);
  if (name.endsWith('Share')) return format.formatPercent(value, locale);
  if (name.endsWith('PerSecond')) return format.formatRate(value, locale);
  return format.formatNumber(value, locale);
}

const texts = (values: FindingValues, reader: Reader): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, valueText(name, value, reader) ?? NONE]));

/** The two lines of a finding: what it is and what it costs. */
export function findingLines({ check, values }: Pick<Finding, 'check' | 'values'>, reader: Reader): { what: string; why: string } {
  const shown = texts(values, reader);
  const line = (which: string): string => {
    const key = `doctor.checks.${check}.${which}`;
    return reader.has(key) ? reader.say(key, shown) : which === 'what' ? check : '';
  };
  return { what: line('what'), why: line('why') };
}

/** A finding's numbers and times with their labels; its texts are in its lines. */
export function findingFacts({ values }: Pick<Finding, 'values'>, reader: Reader): [label: string, text: string][] {
  return Object.entries(values).flatMap(([name, value]) => {
    const text = typeof value === 'number' || name.endsWith('At') ? valueText(name, value, reader) : null;
    const key = `doctor.values.${name}`;
    return text === null || !reader.has(key) ? [] : [[reader.say(key), text]];
  });
}

export function unseenText({ code }: Unseen, reader: Reader): string {
  const key = `doctor.unseen.${code}`;
  return reader.has(key) ? reader.say(key) : code;
}

/** Foreign text in one line without hidden characters, so that it cannot change the document around it. */
const oneLine = (text: string): string => visibleText(text).replace(/\s*[\r\n\u2028\u2029]+\s*/g, ' ');

/** Examinations as Markdown: a heading per outbox, its findings with their fix, silenced ones last, and what could not be read. */
export function examinationsAsMarkdown(examinations: readonly Examination[], reader: Reader): string {
  const { say, timeZone } = reader;
  const lines = [`# ${say('doctor.title')}`];
  for (const { outbox, name, database, table, at, findings, unseen, problem } of examinations) {
    lines.push(
      '',
      `## ${oneLine(name)} (${outbox})`,
      '',
      [database, ...(table === '' ? [] : [`\`${table}\``]), format.formatAbsolute(at, timeZone)].join(' · '),
    );
    if (problem !== null) lines.push('', `> ${say(`doctor.problems.${problem}`)}`);
    if (findings.length === 0 && problem === null) lines.push('', say('doctor.healthy'));
    for (const finding of findings) {
      const { what, why } = findingLines(finding, reader);
      lines.push('', `### ${say(`doctor.severities.${finding.severity}`)}: ${oneLine(what)}`, '', oneLine(why));
      const facts = findingFacts(finding, reader);
      if (facts.length > 0) lines.push('', facts.map((fact) => `- ${fact.join(': ')}`).join('\n'));
      if (finding.cure !== null) lines.push('', '```sql', finding.cure, '```');
      if (finding.silence !== null) {
        const { actor, at: since, reason } = finding.silence;
        const by = say('doctor.silencedBy', { actor: oneLine(actor), at: format.formatAbsolute(since, timeZone) });
        lines.push('', `_${by}: ${oneLine(reason)}_`);
      }
    }
    if (unseen.length > 0) lines.push('', `### ${say('doctor.unseenTitle')}`, '', ...unseen.map((one) => `- ${unseenText(one, reader)}`));
    const cures = unseen.flatMap(({ cure }) => (cure === null ? [] : [cure]));
    if (cures.length > 0) lines.push('', '```sql', ...new Set(cures), '```');
  }
  return `${lines.join('\n')}\n`;
}

/** Examinations as CSV, a line per finding; values as JSON. */
export function examinationsAsCsv(examinations: readonly Examination[], reader: Reader): string {
  const head = ['outbox', 'at', 'severity', 'check', 'subject', 'what', 'why', 'values', 'cure', 'silenced_by', 'silence_reason'];
  const rows = examinations.flatMap(({ outbox, at, findings }) =>
    findings.map((finding) => {
      const { what, why } = findingLines(finding, reader);
      const { severity, check, subject, values, cure, silence } = finding;
      const shown = [subject ?? '', JSON.stringify(values), silence?.actor ?? '', silence?.reason ?? ''];
      const [about, facts, by, because] = shown.map(visibleText);
      // A fix stays exactly as it has to be run, whatever characters names have.
      return [outbox, at, severity, check, about, what, why, facts, cure, by, because].map((text) => text ?? '');
    }),
  );
  return `${[head, ...rows].map((row) => row.map(field).join(',')).join('\r\n')}\r\n`;
}
