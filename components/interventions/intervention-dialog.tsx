import { Button, Modal, Skeleton, Textarea, TextInput, UnstyledButton } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconAlertTriangle, IconRefresh } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { type ReactNode, useEffect, useEffectEvent, useState } from 'react';
import { INTERVENTION_EVENTS_MAX, type InterventionRequest, type InterventionResult, REASON_MAX, REASON_MIN } from '@/lib/shared/model';
import { Form } from '../frame/popovers';
import classes from './intervention-dialog.module.css';
import { useFates, useResultSentence } from './fates';
import { attemptsOf, useOperationName } from './operations';
import { About, PreviewRows, SqlView } from './preview-rows';
import { ResultPanel, HaltedPanel, RunningPanel, ProblemPanel, UnknownPanel } from './panels';
import type { Open, Opening } from './send';
import { storedList, storeList } from './sent';
import { type Preview, type Run, usePreview, useRun } from './use-run';

interface InterventionDialogProps {
  opening: Opening;
  onClose: () => void;
  onSettled: (result: InterventionResult) => void;
  /** Opens the dialog for another operation: undo. */
  onOpen: Open;
}

/** Shows what will happen to which rows, asks for a reason, does it once, and shows the result. */
export function InterventionDialog({ opening, onClose, onSettled, onOpen }: InterventionDialogProps) {
  const { subject, operation, events } = opening;
  const t = useTranslations();
  const name = useOperationName();
  const phone = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const preview = usePreview(opening);
  const { run, send, goOn, stop, soFar } = useRun(opening);
  const followed = useFates(subject.id, run.phase === 'done' || run.phase === 'halted' ? run.results : []);
  const resultSentence = useResultSentence();

  const settle = useEffectEvent(onSettled);
  useEffect(() => {
    if (run.phase === 'done') settle(run.result);
  }, [run]);

  const count = preview.preview === null ? events.length : countOf(preview);
  const max = attemptsOf((preview.beyond.length === 0 ? preview.preview?.rows : undefined)?.map(({ event }) => event) ?? []);
  const outbox = (): ReactNode => <em className={classes.subject}>{subject.name}</em>;
  const title = (): ReactNode => {
    if (run.phase === 'done') return resultSentence(run.result, followed);
    if (run.phase === 'checking') return t('interventions.unknownTitle', { operation: name(operation, max) });
    if (run.phase === 'absent') return t('interventions.absentTitle', { operation: name(operation, max) });
    return t.has(`operations.${operation}.title`)
      ? t.rich(`operations.${operation}.title`, { count, outbox, max: max ?? 'none' })
      : name(operation);
  };
  const running = run.phase === 'sending' && run.several;
  const close = () => {
    // If the rest is not continued, the screen gets the result of the part that was done.
    const done = run.phase === 'halted' || run.phase === 'checking' ? soFar() : null;
    if (done !== null) onSettled(done);
    onClose();
  };

  return (
    <Modal
      opened
      // A run of several interventions is stopped between two of them, and its result shown, before the dialog closes.
      onClose={running ? stop : close}
      fullScreen={phone}
      size={720}
      centered={!phone}
      // It must not close by accident: only Escape, the cross and the buttons do that.
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': t('interventions.close') }}
      transitionProps={{ duration: 80 }}
      classNames={{ title: classes.title, body: classes.body, content: classes.content, header: classes.header }}
      title={title()}
    >
      {run.phase === 'done' ? (
        <ResultPanel
          result={run.result}
          followed={followed}
          subject={subject}
          rows={preview.preview?.rows ?? []}
          onClose={onClose}
          onUndo={onOpen}
        />
      ) : run.phase === 'checking' || run.phase === 'absent' ? (
        <UnknownPanel run={run} outbox={subject.id} onClose={close} />
      ) : running ? (
        <RunningPanel run={run} onStop={stop} />
      ) : run.phase === 'halted' ? (
        <HaltedPanel run={run} followed={followed} opening={opening} onGoOn={goOn} onClose={close} />
      ) : (
        <Deciding opening={opening} preview={preview} run={run} onClose={onClose} onConfirm={send} />
      )}
    </Modal>
  );
}

const countOf = ({ preview, beyond }: Preview): number => (preview === null || preview.allowed === 0 ? 0 : preview.allowed + beyond.length);

/** More rows than this are archived only after their number was typed. */
const TYPED_ABOVE = 20;

interface DecidingProps {
  opening: Opening;
  preview: Preview;
  run: Run;
  onClose: () => void;
  /** With `tryOne`, one event goes first and the others wait for a confirmation. */
  onConfirm: (request: InterventionRequest, tryOne: boolean) => void;
}

function Deciding({ opening: { subject, operation, events }, preview: read, run, onClose, onConfirm }: DecidingProps) {
  const { preview, beyond, problem, loading, readAgain } = read;
  const t = useTranslations();
  const name = useOperationName();
  const [reason, setReason] = useState('');
  const [typed, setTyped] = useState('');
  const [touched, setTouched] = useState(false);

  const warning = (code: string) =>
    t.has(`operations.${operation}.warnings.${code}`)
      ? t(`operations.${operation}.warnings.${code}`)
      : t.has(`warnings.${code}`)
        ? t(`warnings.${code}`)
        : code;

  const count = countOf(read);
  const mustType = operation === 'archive' && count > TYPED_ABOVE;
  const accepted = acceptedReason(reason);
  const sending = run.phase === 'sending';
  const ready = preview !== null && !loading && count > 0 && accepted !== null && (!mustType || typed.trim() === String(count));
  const moved = preview?.rows.some(({ code }) => code === 'changed_since_seen') ?? false;

  const confirm = (tryOne: boolean) => {
    setTouched(true);
    if (!ready || sending) return;
    rememberReason(accepted);
    const seen = preview.rows.filter(({ allowed }) => allowed).map(({ event }) => ({ id: event.id, version: event.version }));
    onConfirm({ operation, events: [...seen, ...beyond], reason: accepted }, tryOne);
  };
  const again = (className?: string) => (
    <Button
      size="compact-sm"
      variant="default"
      leftSection={<IconRefresh size={14} />}
      onClick={readAgain}
      loading={loading}
      className={className}
    >
      {t('interventions.lookAgain')}
    </Button>
  );

  return (
    // Messages on missing input are ours, in the reader's language.
    <Form className={classes.form} noValidate onSubmit={() => confirm(false)}>
      <div className={classes.scroll}>
        {t.has(`operations.${operation}.consequence`) && <p className={classes.consequence}>{t(`operations.${operation}.consequence`)}</p>}
        {preview === null && loading && (
          <Skeleton height={Math.min(events.length, 5) * 36 + 33} radius="sm" data-testid="preview-loading" />
        )}
        {problem !== null && (
          <ProblemPanel problem={problem} outbox={subject.id}>
            {again()}
          </ProblemPanel>
        )}
        {preview !== null && (
          <>
            {count > 0 && <About rows={preview.rows} first={beyond.length > 0} />}
            <PreviewRows rows={preview.rows} />
            {count > 0 && beyond.length > 0 && (
              <p className={classes.consequence}>
                {t('interventions.beyondPreview', { shown: preview.rows.length, count: events.length, size: INTERVENTION_EVENTS_MAX })}
              </p>
            )}
            {moved && again(classes.start)}
            {count > 0 &&
              preview.warnings.map(({ code, count: about }) => (
                <p key={code} className={classes.warning}>
                  <IconAlertTriangle size={16} aria-hidden />
                  <span>
                    {about < preview.allowed && t('interventions.some', { count: about, all: preview.allowed })}
                    {warning(code)}
                  </span>
                </p>
              ))}
            {count > 0 && preview.orderNotLooked === true && <p className={classes.consequence}>{t('interventions.orderNotLooked')}</p>}
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
        {run.phase === 'refused' && <ProblemPanel problem={run.problem} outbox={subject.id} untouched />}
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
    </Form>
  );
}

const STORAGE_KEY = 'outbox-console.reasons';
const KEPT = 5;

/** The last reasons given in this browser, newest first. */
const recentReasons = (): string[] =>
  storedList(STORAGE_KEY)
    .filter((reason) => typeof reason === 'string')
    .slice(0, KEPT);

const rememberReason = (reason: string): void =>
  storeList(STORAGE_KEY, [reason, ...recentReasons().filter((other) => other !== reason)].slice(0, KEPT));

/** The reason to send, or null while it is too short or too long. */
function acceptedReason(text: string): string | null {
  const reason = text.trim();
  return reason.length >= REASON_MIN && reason.length <= REASON_MAX ? reason : null;
}

interface ReasonFieldProps {
  value: string;
  onChange: (value: string) => void;
  invalid: boolean;
  onSubmit: () => void;
}

/** The operator's reason, which goes into the record. The last reasons of this browser are offered. */
function ReasonField({ value, onChange, invalid, onSubmit }: ReasonFieldProps) {
  const t = useTranslations('interventions');
  const [recent] = useState(recentReasons);
  return (
    <div>
      <Textarea
        label={t('reason')}
        description={t('reasonHint')}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
        onKeyDown={(event) => {
          // A reason is one sentence: Enter confirms, shift-Enter breaks the line.
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          onSubmit();
        }}
        error={invalid ? t('reasonError', { min: REASON_MIN }) : undefined}
        maxLength={REASON_MAX}
        rows={2}
        required
        withAsterisk={false}
        data-autofocus
        autoFocus
      />
      {recent.length > 0 && (
        <div className={classes.recent}>
          <span>{t('recentReasons')}</span>
          {recent.map((reason) => (
            <UnstyledButton key={reason} className={classes.recentReason} onClick={() => onChange(reason)}>
              <bdi>{reason}</bdi>
            </UnstyledButton>
          ))}
        </div>
      )}
    </div>
  );
}
