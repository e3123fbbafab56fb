'use client';

import { Button, Loader, Progress as Bar } from '@mantine/core';
import { useTranslations } from 'next-intl';
import { useEffect, useRef, useState } from 'react';
import type { Progress } from '@/lib/shared/changes/batches';
import { INTERVENTION_EVENTS_MAX, type OutboxEvent } from '@/lib/shared/model';
import { visibleText } from '@/lib/shared/text/visible-text';
import { StateMark } from '../figures/mark';
import type { InterventionActions, Subject } from './actions';
import { Trouble } from './trouble';
import type { Run } from './use-run';
import classes from './intervention-dialog.module.css';

interface RunningPanelProps {
  progress: Progress;
  onStop: () => void;
}

/** Several interventions under way: how far they are, and the way to end them between two. */
export function RunningPanel({ progress, onStop }: RunningPanelProps) {
  const t = useTranslations('interventions.run');
  const [stopping, setStopping] = useState(false);
  // Leaving would end it without a word; what was sent is recorded all the same.
  useEffect(() => {
    const hold = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', hold);
    return () => window.removeEventListener('beforeunload', hold);
  }, []);
  return (
    <div className={classes.form}>
      <div className={classes.scroll}>
        <HowFar progress={progress} />
        <p className={classes.consequence}>{t('batches', { size: INTERVENTION_EVENTS_MAX })}</p>
      </div>
      <div className={classes.buttons}>
        <Button
          variant="default"
          data-autofocus
          loading={stopping}
          onClick={() => {
            setStopping(true);
            onStop();
          }}
        >
          {t('stop')}
        </Button>
      </div>
    </div>
  );
}

function HowFar({ progress: { total, changed, skipped } }: { progress: Progress }) {
  const t = useTranslations('interventions.run');
  return (
    <div>
      <p role="status" className={classes.howFar}>
        {t('progress', { changed, total })}
        {skipped > 0 && ` · ${t('skipped', { skipped })}`}
      </p>
      <Bar value={(100 * (changed + skipped)) / total} aria-label={t('label')} transitionDuration={0} />
    </div>
  );
}

interface HaltedPanelProps {
  run: Extract<Run, { phase: 'halted' }>;
  subject: Subject;
  operation: string;
  actions: InterventionActions;
  onGoOn: () => void;
  onClose: () => void;
}

/** Ended between two interventions: why, what is left, and the way on. */
export function HaltedPanel({ run: { progress, halt, tried }, subject, operation, actions, onGoOn, onClose }: HaltedPanelProps) {
  const t = useTranslations('interventions');
  const goOn = useRef<HTMLButtonElement>(null);
  useEffect(() => goOn.current?.focus(), []);
  const left = progress.total - progress.changed - progress.skipped;
  return (
    <div className={classes.form}>
      <div className={classes.scroll}>
        <HowFar progress={progress} />
        {halt.why === 'problem' ? <Trouble problem={halt.problem} outbox={subject.id} untouched /> : <p>{t(`run.${halt.why}`)}</p>}
        {tried !== null && <TriedEvent id={tried} subject={subject} operation={operation} actions={actions} />}
        <p className={classes.consequence}>{t('run.left', { left })}</p>
      </div>
      <div className={classes.buttons}>
        <Button variant="default" onClick={onClose}>
          {t('close')}
        </Button>
        <Button ref={goOn} onClick={onGoOn}>
          {t('run.goOn', { left })}
        </Button>
      </div>
    </div>
  );
}

const LOOK_EVERY_MS = 2_000;

interface TriedEventProps {
  id: string;
  subject: Subject;
  operation: string;
  actions: InterventionActions;
}

/** How the one event that went first fares, as its table has it now. */
function TriedEvent({ id, subject, operation, actions }: TriedEventProps) {
  const t = useTranslations('interventions.run');
  const [event, setEvent] = useState<OutboxEvent | null>(null);
  useEffect(() => {
    let stopped = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async () => {
      const found = await actions.preview({ outbox: subject.id, operation, events: [{ id, version: '' }] }).catch(() => null);
      if (stopped) return;
      if (found?.ok) setEvent(found.value.rows[0]?.event ?? null);
      timer = setTimeout(() => void look(), LOOK_EVERY_MS);
    };
    void look();
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }, [id, subject.id, operation, actions]);
  return (
    <div className={classes.tried} role="status">
      <span>{t('triedNow')}</span>
      {event === null ? <Loader size={14} type="dots" aria-hidden /> : <StateMark state={event.state} label={event.stateLabel} />}
      {event !== null && event.state !== 'published' && event.error !== null && (
        <bdi className={classes.triedError}>{visibleText(event.error)}</bdi>
      )}
    </div>
  );
}
