import { Anchor, Button } from '@mantine/core';
import { useTranslations } from 'next-intl';
import Link from 'next/link';
import { useEffect, useRef } from 'react';
import type { InterventionPreview, InterventionResult, Skipped } from '@/lib/shared/model';
import { useFormat } from '../figures/use-format';
import type { Subject } from './actions';
import { useOperationName, useSkipText } from './operations';
import classes from './intervention-dialog.module.css';

interface ResultPanelProps {
  result: InterventionResult;
  subject: Subject;
  /** What the preview showed, to name the rows by more than their id. */
  rows: InterventionPreview['rows'];
  onClose: () => void;
  onUndo: (operation: string, ids: string[]) => void;
}

/** What changed, what was left alone and why, and where it is recorded. Stays until it is closed. */
export function ResultPanel({ result, subject, rows, onClose, onUndo }: ResultPanelProps) {
  const t = useTranslations();
  const name = useOperationName();
  const format = useFormat();
  const closeButton = useRef<HTMLButtonElement>(null);
  useEffect(() => closeButton.current?.focus(), []);
  const nameOf = (id: string) => {
    const event = rows.find((row) => row.event.id === id)?.event;
    return event === undefined ? id : [event.type, event.aggregateId ?? event.id].filter((part) => part !== null).join(' · ');
  };
  const { undo, changed } = result;
  return (
    <div className={classes.form} role="status">
      <div className={classes.scroll}>
        {changed.length > 0 && (
          <section>
            <h3 className={classes.changed}>
              {t.has(`operations.${result.operation}.done`)
                ? t(`operations.${result.operation}.done`, { count: changed.length })
                : t('interventions.changed', { count: changed.length })}
            </h3>
            <RowNames ids={changed} nameOf={nameOf} outbox={subject.id} />
          </section>
        )}
        {groupSkipped(result.skipped).map((group) => (
          <SkippedGroup key={group[0]?.code} skipped={group} nameOf={nameOf} outbox={subject.id} />
        ))}
        <p className={classes.record}>
          {t('interventions.recorded', {
            actor: result.actor,
            at: result.at === null ? '' : format.absolute(result.at),
          })}{' '}
          <Anchor component={Link} href={auditHref(subject.id, result)}>
            {t('interventions.seeRecord')}
          </Anchor>
          {changed.length > 1 && (
            <>
              {' · '}
              <Anchor component={Link} href={`/outboxes/${encodeURIComponent(subject.id)}`}>
                {t('interventions.watch', { outbox: subject.name })}
              </Anchor>
            </>
          )}
        </p>
      </div>
      <div className={classes.buttons}>
        {undo !== null && changed.length > 0 && (
          <Button variant="default" onClick={() => onUndo(undo, changed)}>
            {t('interventions.undo', { operation: name(undo) })}
          </Button>
        )}
        <Button ref={closeButton} onClick={onClose}>
          {t('interventions.done')}
        </Button>
      </div>
    </div>
  );
}

function SkippedGroup({ skipped, nameOf, outbox }: { skipped: Skipped[]; nameOf: (id: string) => string; outbox: string }) {
  const t = useTranslations('interventions');
  const text = useSkipText();
  const [first] = skipped;
  if (first === undefined) return null;
  return (
    <section>
      <h3 className={classes.skipped}>{t('skippedHeading', { count: skipped.length, why: text(first.code, first.detail) })}</h3>
      <RowNames ids={skipped.map(({ id }) => id)} nameOf={nameOf} outbox={outbox} />
    </section>
  );
}

/** Named here at the most; the record has them all. */
const NAMES_SHOWN = 100;

function RowNames({ ids, nameOf, outbox }: { ids: string[]; nameOf: (id: string) => string; outbox: string }) {
  const t = useTranslations('interventions');
  return (
    <ul className={classes.names}>
      {ids.slice(0, NAMES_SHOWN).map((id) => (
        <li key={id}>
          <Anchor component={Link} href={`/outboxes/${encodeURIComponent(outbox)}/events/${encodeURIComponent(id)}`}>
            <bdi>{nameOf(id)}</bdi>
          </Anchor>
        </li>
      ))}
      {ids.length > NAMES_SHOWN && <li>{t('moreEvents', { count: ids.length - NAMES_SHOWN })}</li>}
    </ul>
  );
}

/** Rows left alone for the same reason stand together; a time of their own makes a group of one. */
function groupSkipped(skipped: Skipped[]): Skipped[][] {
  const groups = new Map<string, Skipped[]>();
  for (const row of skipped) {
    const key = row.code === 'already_published' ? row.code : `${row.code} ${row.detail?.because ?? ''} ${row.detail?.state ?? ''}`;
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups.values()];
}

function auditHref(outbox: string, result: InterventionResult): string {
  const ids = [...result.changed, ...result.skipped.map(({ id }) => id)];
  const params = new URLSearchParams({ outbox });
  if (ids.length === 1 && ids[0] !== undefined) params.set('event', ids[0]);
  else params.set('operation', result.operation);
  return `/audit?${params.toString()}`;
}
