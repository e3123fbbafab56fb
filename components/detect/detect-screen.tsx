'use client';

import { Title } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { useTransition } from 'react';
import type { Detection, DetectionFailure, Examination } from '@/lib/shared/detection';
import type { EngineKey } from '@/lib/shared/model';
import { useGo } from '../frame/go';
import { Notice } from '../frame/note';
import { ChoiceBar, Select, TextButton } from '../frame/controls';
import { CandidateDetail, CandidateList, type ExamineAction } from './candidate';
import classes from './detect.module.css';

interface DetectScreenProps {
  databases: { id: string; engine: EngineKey }[];
  chosen: string | null;
  answer: { detection: Detection | null; failure: DetectionFailure | null } | null;
  examination: Examination | null;
  examine: ExamineAction;
}

/** With more databases than this, a select is shorter than all of them side by side. */
const SIDE_BY_SIDE = 4;

export function DetectScreen({ databases, chosen, answer, examination, examine }: DetectScreenProps) {
  const t = useTranslations('detect');
  const { go } = useGo();
  const [pending, start] = useTransition();
  const choose = (database: string | null) =>
    start(() => go((router) => router.push(database === null ? '/detect' : `/detect?database=${encodeURIComponent(database)}`)));
  const detection = answer?.detection ?? null;
  const ids = databases.map(({ id }) => ({ value: id, label: id }));
  return (
    <div className={classes.screen}>
      <header className={classes.head}>
        <Title order={1}>{t('title')}</Title>
        <p className={classes.intro}>{t('intro')}</p>
        <div className={classes.choice}>
          {databases.length <= SIDE_BY_SIDE ? (
            <ChoiceBar aria-label={t('database')} data={ids} value={chosen ?? ''} onChange={choose} />
          ) : (
            <Select
              aria-label={t('database')}
              style={{ minWidth: 280 }}
              data={[{ value: '', label: t('choose') }, ...ids]}
              value={chosen ?? ''}
              onChange={(event) => choose(event.currentTarget.value || null)}
            />
          )}
          {chosen !== null && (
            <TextButton
              variant="default"
              size="xs"
              loading={pending}
              icon={IconRefresh}
              onClick={() => start(() => go((router) => router.refresh()))}
              label={t('again')}
            />
          )}
          {detection !== null && (
            <p className={classes.summary} role="status">
              {t('summary', { tables: detection.tables, candidates: detection.candidates.length })}
            </p>
          )}
        </div>
        {detection?.cut === true && <p className={classes.intro}>{t('cut')}</p>}
      </header>
      <Body chosen={chosen} answer={answer} examination={examination} examine={examine} pending={pending} />
    </div>
  );
}

function Body({ chosen, answer, examination, examine, pending }: Omit<DetectScreenProps, 'databases'> & { pending: boolean }) {
  const t = useTranslations('detect');
  const panel = (title: string, text?: string) => (
    <div className={classes.panel} data-part="detail">
      <Notice title={title} text={text} />
    </div>
  );
  if (chosen === null || answer === null) return panel(t('start'), t('startText'));
  const { detection, failure } = answer;
  if (detection === null) return panel(t('failed'), failure === null ? undefined : t(`failures.${failure.code}`));
  if (detection.candidates.length === 0) return panel(t('none'), t('noneText'));
  const key = examination?.candidate.table ?? null;
  const candidates = detection.candidates.map((one) => (one.table === key ? (examination?.candidate ?? one) : one));
  return (
    <div className={classes.columns} data-chosen={examination !== null} data-dimmed={pending || undefined}>
      <CandidateList database={chosen} candidates={candidates} chosen={key} />
      {examination === null ? (
        panel(t('chooseTable'))
      ) : (
        <CandidateDetail key={`${chosen} ${key ?? ''}`} database={chosen} initial={examination} examine={examine} />
      )}
    </div>
  );
}
