'use client';

import { Button, Skeleton, TextInput } from '@mantine/core';
import { IconAlertTriangle, IconRefresh } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import type { SeenEvent } from '@/lib/shared/changes/batches';
import { INTERVENTION_EVENTS_MAX, type InterventionPreview, type InterventionRequest } from '@/lib/shared/model';
import type { ProblemInfo } from '@/lib/shared/problems';
import type { Subject } from './actions';
import { PreviewRows } from './preview-rows';
import { ReasonField } from './reason-field';
import { acceptedReason, rememberReason } from './recent-reasons';
import { SqlView } from './sql-view';
import { Trouble } from './trouble';
import type { Run } from './use-run';
import { useOperationName } from './words';
import classes from './intervention-dialog.module.css';

/** More rows than this leave the outbox only after their number was typed. */
const TYPED_ABOVE = 20;

interface DecidingProps {
  subject: Subject;
  operation: string;
  preview: InterventionPreview | null;
  /** The events after those shown, as they were seen. */
  beyond: SeenEvent[];
  problem: ProblemInfo | null;
  loading: boolean;
  /** What the dialog was opened for; the preview is of the first of them. */
  events: SeenEvent[];
  run: Run;
  onLookAgain: () => void;
  onClose: () => void;
  /** With `tryOne`, one event goes first and the others wait for a word. */
  onConfirm: (request: InterventionRequest, tryOne: boolean) => void;
}

export function Deciding(props: DecidingProps) {
  const { subject, operation, preview, beyond, problem, loading, events, run, onLookAgain, onClose, onConfirm } = props;
  const t = useTranslations();
  const name = useOperationName();
  const [reason, setReason] = useState('');
  const [typed, setTyped] = useState('');
  const [touched, setTouched] = useState(false);

  const count = preview === null || preview.allowed === 0 ? 0 : preview.allowed + beyond.length;
  const mustType = operation === 'archive' && count > TYPED_ABOVE;
  const accepted = acceptedReason(reason);
  const sending = run.phase === 'sending';
  const ready = preview !== null && !loading && count > 0 && accepted !== null && (!mustType || typed.trim() === String(count));
  const refused = run.phase === 'refused' ? run.problem : null;
  const moved = preview?.rows.some(({ code }) => code === 'changed_since_seen') ?? false;

  const confirm = (tryOne: boolean) => {
    setTouched(true);
    if (!ready || sending) return;
    rememberReason(accepted);
    const seen = preview.rows.filter(({ allowed }) => allowed).map(({ event }) => ({ id: event.id, version: event.version }));
    onConfirm({ operation, events: [...seen, ...beyond], reason: accepted }, tryOne);
  };

  return (
    <form
      className={classes.form}
      // The words for what is missing are ours, in the reader's language.
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        confirm(false);
      }}
    >
      <div className={classes.scroll}>
        {t.has(`operations.${operation}.consequence`) && <p className={classes.consequence}>{t(`operations.${operation}.consequence`)}</p>}
        {preview === null && loading && (
          <Skeleton height={Math.min(events.length, 5) * 36 + 33} radius="sm" data-testid="preview-loading" />
        )}
        {problem !== null && (
          <Trouble problem={problem} outbox={subject.id}>
            <Button size="compact-sm" variant="default" leftSection={<IconRefresh size={14} />} onClick={onLookAgain} loading={loading}>
              {t('interventions.lookAgain')}
            </Button>
          </Trouble>
        )}
        {preview !== null && (
          <>
            <PreviewRows rows={preview.rows} />
            {count > 0 && beyond.length > 0 && (
              <p className={classes.consequence}>
                {t('interventions.beyondPreview', { shown: preview.rows.length, count: events.length, size: INTERVENTION_EVENTS_MAX })}
              </p>
            )}
            {moved && (
              <Button
                size="compact-sm"
                variant="default"
                leftSection={<IconRefresh size={14} />}
                onClick={onLookAgain}
                loading={loading}
                className={classes.start}
              >
                {t('interventions.lookAgain')}
              </Button>
            )}
            {count > 0 &&
              preview.warnings.map((code) => (
                <p key={code} className={classes.warning}>
                  <IconAlertTriangle size={16} aria-hidden />
                  <span>{t.has(`warnings.${code}`) ? t(`warnings.${code}`) : code}</span>
                </p>
              ))}
            {count === 0 && <p className={classes.nothing}>{t('interventions.nothingAllowed', { operation: name(operation) })}</p>}
            {count > 0 && (
              <ReasonField value={reason} onChange={setReason} invalid={touched && accepted === null} onSubmit={() => confirm(false)} />
            )}
            {mustType && (
              <TextInput
                label={t('interventions.typeCount', { count })}
                value={typed}
                onChange={(event) => setTyped(event.currentTarget.value)}
                inputMode="numeric"
                autoComplete="off"
                className={classes.typed}
                error={touched && typed.trim() !== String(count) ? t('interventions.typeCountError', { count }) : undefined}
              />
            )}
            {count > 0 && <SqlView statements={preview.sql} />}
          </>
        )}
        {refused !== null && <Trouble problem={refused} outbox={subject.id} untouched />}
      </div>
      <div className={classes.buttons}>
        <Button variant="default" onClick={onClose}>
          {t('interventions.cancel')}
        </Button>
        {count > 1 && (
          <Button variant="default" disabled={sending || loading} onClick={() => confirm(true)}>
            {t('interventions.tryOne')}
          </Button>
        )}
        {(preview === null || count > 0) && (
          <Button type="submit" disabled={sending || preview === null || loading} loading={sending}>
            {t.has(`operations.${operation}.button`)
              ? t(`operations.${operation}.button`, { count: preview === null ? events.length : count })
              : name(operation)}
          </Button>
        )}
      </div>
    </form>
  );
}
