'use client';

import Link from 'next/link';
import { IconCircleCheck, IconCircleDashed, IconCircleHalf2, type IconProps } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import type { ComponentType } from 'react';
import type { Candidate, Confidence } from '@/lib/shared/detection';
import { useFormat } from '../figures/use-format';
import classes from './detect.module.css';

const SIGN: Record<Confidence, ComponentType<IconProps>> = {
  certain: IconCircleCheck,
  likely: IconCircleHalf2,
  possible: IconCircleDashed,
};

/** The address of a candidate, or of all of them. */
export function candidateHref(database: string, candidate: Candidate | null): string {
  const search = new URLSearchParams({
    database,
    ...(candidate === null ? {} : { schema: candidate.name.schema, table: candidate.name.table }),
  });
  return `/detect?${search.toString()}`;
}

/** How sure it is: sign and word. */
export function ConfidenceMark({ confidence }: { confidence: Confidence }) {
  const t = useTranslations('detect.confidence');
  const Sign = SIGN[confidence];
  return (
    <span className={classes.confidence} data-confidence={confidence}>
      <Sign size={14} stroke={2} aria-hidden />
      {t(confidence)}
    </span>
  );
}

/** Everything that was found, most certain first. */
export function CandidateList({ database, candidates, chosen }: { database: string; candidates: Candidate[]; chosen: string | null }) {
  const t = useTranslations('detect');
  const format = useFormat();
  return (
    <nav className={classes.list} aria-label={t('candidates')}>
      <ul>
        {candidates.map((candidate) => (
          <li key={candidate.table}>
            <Link
              href={candidateHref(database, candidate)}
              className={classes.candidate}
              aria-current={candidate.table === chosen ? 'true' : undefined}
              scroll={false}
            >
              <span className={classes.candidateHead}>
                <bdi className={classes.table}>{candidate.table}</bdi>
                <ConfidenceMark confidence={candidate.confidence} />
              </span>
              <span className={classes.candidateFacts}>
                <span>{candidate.label ?? t('byHand')}</span>
                {candidate.family !== 'outbox' && <span>{t(`families.${candidate.family}`)}</span>}
                {candidate.estimatedRows !== null && (
                  <span>{t('rows', { known: 'yes', count: format.compact(candidate.estimatedRows) })}</span>
                )}
                {candidate.configuredAs !== null && (
                  <span className={classes.watched}>{t('configured', { id: candidate.configuredAs })}</span>
                )}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
