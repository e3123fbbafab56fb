'use client';

import { Modal } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useTranslations } from 'next-intl';
import { useEffect, useEffectEvent, type ReactNode } from 'react';
import type { SeenEvent } from '@/lib/shared/changes/batches';
import type { InterventionResult } from '@/lib/shared/model';
import type { InterventionActions, Opening, Subject } from './actions';
import { Deciding } from './deciding';
import { ResultPanel, UnknownPanel } from './result-panel';
import { HaltedPanel, RunningPanel } from './run-panels';
import { usePreview } from './use-preview';
import { useRun } from './use-run';
import { useOperationName } from './words';
import classes from './intervention-dialog.module.css';

interface InterventionDialogProps {
  opening: Opening;
  actions: InterventionActions;
  onClose: () => void;
  onSettled: (result: InterventionResult) => void;
  /** Opens the dialog again for another operation: undo. */
  onOpen: (subject: Subject, operation: string, events: SeenEvent[]) => void;
}

/** Says what will happen to which rows, asks why, does it once, and shows what came of it. */
export function InterventionDialog({ opening, actions, onClose, onSettled, onOpen }: InterventionDialogProps) {
  const { subject, operation, events, key } = opening;
  const t = useTranslations();
  const name = useOperationName();
  const phone = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const { preview, beyond, problem, loading, lookAgain } = usePreview(actions, subject.id, operation, events);
  const { run, send, goOn, stop, soFar } = useRun(actions, subject, key);

  const settle = useEffectEvent(onSettled);
  useEffect(() => {
    if (run.phase === 'done') settle(run.result);
  }, [run]);

  const count = preview === null ? events.length : preview.allowed === 0 ? 0 : preview.allowed + beyond.length;
  const outbox = (): ReactNode => <em className={classes.subject}>{subject.name}</em>;
  const title = {
    deciding: () => (t.has(`operations.${operation}.title`) ? t.rich(`operations.${operation}.title`, { count, outbox }) : name(operation)),
    checking: () => t('interventions.unknownTitle', { operation: name(operation) }),
    absent: () => t('interventions.absentTitle', { operation: name(operation) }),
    done: (result: InterventionResult) =>
      t(`interventions.outcome.${result.outcome}`, { changed: result.changed.length, skipped: result.skipped.length }),
  };
  const settled = run.phase === 'done';
  const unanswered = run.phase === 'checking' || run.phase === 'absent' ? run : null;
  const running = run.phase === 'sending' && run.several;
  const close = () => {
    // What a part of it did is told to the screen when nobody goes on with the rest.
    const done = run.phase === 'halted' || run.phase === 'checking' ? soFar() : null;
    if (done !== null) onSettled(done);
    onClose();
  };

  return (
    <Modal
      opened
      // Several interventions are ended between two of them, and what came of it is shown, before the dialog goes.
      onClose={running ? stop : close}
      fullScreen={phone}
      size={720}
      centered={!phone}
      // Answering by accident is the danger here: only Escape, the cross and the buttons close it.
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': t('interventions.close') }}
      transitionProps={{ duration: 80 }}
      classNames={{ title: classes.title, body: classes.body, content: classes.content, header: classes.header }}
      title={settled ? title.done(run.result) : unanswered ? title[unanswered.phase]() : title.deciding()}
    >
      {settled ? (
        <ResultPanel
          result={run.result}
          subject={subject}
          rows={preview?.rows ?? []}
          onClose={onClose}
          onUndo={(undo, ids) =>
            onOpen(
              subject,
              undo,
              ids.map((id) => ({ id, version: '' })),
            )
          }
        />
      ) : unanswered ? (
        <UnknownPanel run={unanswered} outbox={subject.id} onClose={close} />
      ) : running ? (
        <RunningPanel progress={run.progress} onStop={stop} />
      ) : run.phase === 'halted' ? (
        <HaltedPanel run={run} subject={subject} operation={operation} actions={actions} onGoOn={() => void goOn()} onClose={close} />
      ) : (
        <Deciding
          subject={subject}
          operation={operation}
          preview={preview}
          beyond={beyond}
          problem={problem}
          loading={loading}
          events={events}
          run={run}
          onLookAgain={lookAgain}
          onClose={onClose}
          onConfirm={send}
        />
      )}
    </Modal>
  );
}
