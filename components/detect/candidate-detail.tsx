'use client';

import { useState, useTransition } from 'react';
import Link from 'next/link';
import { Alert, Anchor } from '@mantine/core';
import { IconAlertTriangle, IconArrowLeft, IconCheck } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import type { Examination } from '@/lib/shared/detection';
import type { ActionResult } from '@/lib/shared/problems';
import type { LiveState } from '@/lib/shared/states';
import { ConfidenceMark } from './candidate-list';
import type { ExamineInput } from './detect-screen';
import { PasteBlock } from './paste-block';
import { SampleTable } from './sample-table';
import { WordTable } from './word-table';
import classes from './detect.module.css';

interface DetailProps {
  database: string;
  initial: Examination;
  examine: (input: ExamineInput) => Promise<ActionResult<Examination>>;
  /** Where all candidates are. */
  back: string;
}

/** One candidate: why it is one, its mapping, its words, rows read through it, and the lines to paste. */
export function CandidateDetail({ database, initial, examine, back }: DetailProps) {
  const t = useTranslations('detect');
  const problems = useTranslations('problems');
  const [examination, setExamination] = useState(initial);
  const [confirmed, setConfirmed] = useState<Record<string, LiveState | null>>({});
  const [refused, setRefused] = useState<string | null>(null);
  const [pending, start] = useTransition();
  const { candidate, roles, status, sample, problem, yaml } = examination;

  const say = (word: string, state: LiveState | null) => {
    const next = { ...confirmed, [word]: state };
    setConfirmed(next);
    start(async () => {
      const { schema, table } = candidate.name;
      const answer = await examine({ database, schema, table, confirmed: next }).catch(() => null);
      setRefused(answer?.ok === true ? null : problems(answer?.problem.code ?? 'unavailable'));
      if (answer?.ok === true) setExamination(answer.value);
    });
  };

  return (
    <article className={classes.detail} data-part="detail" aria-label={candidate.table}>
      <Anchor component={Link} href={back} className={classes.back} size="sm">
        <IconArrowLeft size={14} aria-hidden /> {t('back')}
      </Anchor>
      <header className={classes.detailHead}>
        <h2>
          <bdi className={classes.table}>{candidate.table}</bdi>
        </h2>
        <ConfidenceMark confidence={candidate.confidence} />
        <p>{candidate.label ?? t('byHand')}</p>
      </header>
      {refused !== null && <Alert color="red">{refused}</Alert>}
      <div className={classes.evidence}>
        <Why examination={examination} />
        <Before examination={examination} />
      </div>
      {problem !== null && (
        <Alert color="orange" title={t('problem')} icon={<IconAlertTriangle size={16} aria-hidden />}>
          {t(`failures.${problem.code}`)}
          {problem.code === 'mapping' && problem.detail !== null && <p className={classes.problemDetail}>{problem.detail}</p>}
        </Alert>
      )}
      {status !== null && status.words.length > 0 && (
        <WordTable
          column={status.column}
          words={status.words}
          complete={status.complete}
          chosen={confirmed}
          pending={pending}
          onSay={say}
        />
      )}
      {sample !== null && <SampleTable sample={sample} pending={pending} />}
      {roles.length > 0 && (
        <section className={classes.block}>
          <h3>{t('mapping')}</h3>
          <div className={classes.scroll} tabIndex={0} role="region" aria-label={t('mapping')}>
            <table className={classes.grid}>
              <thead>
                <tr>
                  <th scope="col">{t('mappingRole')}</th>
                  <th scope="col">{t('mappingColumn')}</th>
                  <th scope="col">{t('mappingType')}</th>
                </tr>
              </thead>
              <tbody>
                {roles.map(({ role, column, type }) => (
                  <tr key={role}>
                    <th scope="row">{role}</th>
                    <td className={classes.mono}>
                      <bdi>{column}</bdi>
                    </td>
                    <td className={classes.quiet}>{type}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </section>
      )}
      {yaml !== '' && <PasteBlock yaml={yaml} pending={pending} />}
    </article>
  );
}

function Why({ examination: { candidate } }: { examination: Examination }) {
  const t = useTranslations('detect');
  return (
    <section className={classes.block}>
      <h3>{t('why')}</h3>
      <ul className={classes.points}>
        {candidate.reasons.map(({ code, values }) => (
          <li key={code}>
            <IconCheck size={14} aria-hidden />
            <span>{t(`reasons.${code}`, values)}</span>
          </li>
        ))}
      </ul>
      {candidate.companions.length > 0 && (
        <p className={classes.quiet}>
          {t('companions')}: {candidate.companions.map(({ table, purpose }) => `${table} (${t(`purposes.${purpose}`)})`).join(', ')}
        </p>
      )}
      {candidate.alternatives.length > 0 && (
        <p className={classes.quiet}>{t('alternatives', { shapes: candidate.alternatives.map(({ label }) => label).join(', ') })}</p>
      )}
    </section>
  );
}

function Before({ examination: { candidate } }: { examination: Examination }) {
  const t = useTranslations('detect');
  if (candidate.cautions.length === 0) return null;
  return (
    <section className={classes.block}>
      <h3>{t('before')}</h3>
      <ul className={classes.points} data-kind="caution">
        {candidate.cautions.map(({ code, values }, index) => (
          <li key={`${code} ${String(index)}`}>
            <IconAlertTriangle size={14} aria-hidden />
            <span>{t(`cautions.${code}`, values)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
