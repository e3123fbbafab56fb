/** A scan as a person reads it on a terminal; the sentences are those of the screen. */
import { createTranslator } from 'use-intl/core';
import en from '@/lib/messages/en.json';
import type { Candidate, Detection, DetectionFailure, Examination } from '@/lib/shared/detection';
import { columns, plain } from '../columns';

const words = createTranslator({ locale: 'en', messages: en, namespace: 'detect' });
const states = createTranslator({ locale: 'en', messages: en, namespace: 'states' });
const number = new Intl.NumberFormat('en');

/** Why something could not be read, and what to do about it. */
export function failureSentence({ code, detail }: DetectionFailure): string {
  return `${words(`failures.${code}`)}${detail === null ? '' : ` (${detail})`}`;
}

/** Everything that was found, a blank line between candidates. */
export function detectionText(detection: Detection, examinations: readonly Examination[]): string {
  const { tables, candidates, cut } = detection;
  const head = `${detection.database}: ${words('summary', { tables, candidates: candidates.length })}`;
  const parts = [head, ...(cut ? [words('cut')] : []), ...(candidates.length === 0 ? [words('noneText')] : [])];
  // One heading for all: pasted together, the lines are still one list.
  const first = examinations.findIndex(({ yaml }) => yaml !== '');
  const texts = examinations.map((one, index) =>
    examinationText(index === first ? one : { ...one, yaml: one.yaml.replace(/^outboxes:\n/, '') }),
  );
  return [parts.join('\n'), ...texts].join('\n\n');
}

/** What somebody who has never used the console does with the lines; nothing where there are none to paste. */
export function nextSteps(examinations: readonly Examination[], { id, known }: { id: string; known: boolean }): string[] {
  const fresh = examinations.filter(({ candidate, yaml }) => yaml !== '' && candidate.configuredAs === null);
  if (fresh.length === 0) return [];
  const login = `databases:\n  ${id}:\n    url: \${${id.toUpperCase().replaceAll('-', '_')}_URL}`;
  return [
    `${words('paste')}: ${words('pasteText')}`,
    ...(known ? [] : [`The login goes beside it, here from the environment:\n\n${login}`]),
    'Then: npm run console -- install <outbox>, and npm run console -- prove <outbox>.',
  ];
}

function headline({ table, label, confidence, estimatedRows, counted, configuredAs }: Candidate): string {
  const rows = words('rows', {
    known: estimatedRows === null ? 'no' : counted ? 'exact' : 'yes',
    count: number.format(Math.round(estimatedRows ?? 0)),
  });
  return [
    words(`confidence.${confidence}`),
    table,
    label ?? words('byHand'),
    rows,
    ...(configuredAs === null ? [] : [words('configured', { id: configuredAs })]),
  ].join('  ·  ');
}

function examinationText({ candidate, roles, status, sample, problem, yaml }: Examination): string {
  const lines = [headline(candidate)];
  lines.push(...candidate.reasons.map(({ code, values }) => `  + ${plain(words(`reasons.${code}`, values))}`));
  lines.push(...candidate.cautions.map(({ code, values }) => `  ! ${plain(words(`cautions.${code}`, values))}`));
  if (candidate.companions.length > 0)
    lines.push(
      `  ${words('companions')}: ${candidate.companions.map((one) => `${one.table} (${words(`purposes.${one.purpose}`)})`).join(', ')}`,
    );
  if (roles.length > 0)
    lines.push(
      '',
      ...columns([
        [words('mappingRole'), words('mappingColumn'), words('mappingType')],
        ...roles.map(({ role, column, type }) => [role, column, type ?? '']),
      ]),
    );
  if (status !== null && status.words.length > 0)
    lines.push(
      '',
      `  ${words('wordsSeen', { column: status.column, looked: status.looked })}${status.complete ? '' : ` ${words('wordsIncomplete')}`}`,
      ...columns([
        [`${words('words')} (${status.column})`, words('wordRows'), words('meaning')],
        ...status.words.map(({ word, rows, state, sure }) => [
          word,
          number.format(rows),
          `${state === null ? words('open') : states(state)}${sure ? '' : ` (${words('toConfirm')})`}`,
        ]),
      ]),
    );
  if (sample !== null) {
    lines.push(
      '',
      `  ${words('sample')}. ${words('sampleText', {
        looked: sample.looked,
        all: String(sample.all),
        dead: sample.dead,
        unmapped: sample.unmapped,
      })
        .replace(/ +/g, ' ')
        .trim()}${sample.stateless ? ` ${words('sampleStateless')}` : ''}`,
    );
    lines.push(
      ...columns(
        sample.rows.map(({ event, payload }) => [
          sample.stateless ? '' : states(event.state),
          event.id,
          event.type ?? '',
          event.createdAt ?? '',
          payload ?? '',
        ]),
      ),
    );
  }
  if (problem !== null) lines.push('', `  ${words('problem')}: ${plain(failureSentence(problem))}`);
  if (yaml !== '') lines.push('', yaml.trimEnd());
  return lines.join('\n');
}
