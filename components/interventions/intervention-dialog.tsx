import { Modal, Skeleton, TextInput } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconRefresh, IconUsers } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { type ReactNode, useEffect, useEffectEvent, useState } from 'react';
import type { InterventionRequest, InterventionResult } from '@/lib/shared/model';
import { SignedText } from '../frame/note';
import { Form, TextButton } from '../frame/controls';
import classes from './intervention-dialog.module.css';
import { attemptsOf, useOperationName, useWarningText } from './operations';
import { About, PreviewRows, SqlView } from './preview-rows';
import { useMakePlan } from './use-plan';
import { ResultPanel, UnknownPanel, useFates, useResultSentence } from './panels';
import { ProblemPanel } from './problem-panel';
import { ReasonField, useReason } from './reason-field';
import { type Open, type Opening, type Preview, type Sending, usePreview, useSending } from './use-sending';

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
  const { sending, send } = useSending(opening);
  const followed = useFates(subject.id, sending.phase === 'done' ? sending.result : null);
  const resultSentence = useResultSentence();

  const settle = useEffectEvent(onSettled);
  useEffect(() => {
    if (sending.phase === 'done') settle(sending.result);
  }, [sending]);

  const count = preview.preview === null ? events.length : preview.preview.allowed;
  const max = attemptsOf(preview.preview?.rows.map(({ event }) => event) ?? []);
  const outbox = (): ReactNode => <em className={classes.subject}>{subject.name}</em>;
  const title = (): ReactNode => {
    if (sending.phase === 'done') return resultSentence(sending.result, followed);
    if (sending.phase === 'checking') return t('interventions.unknownTitle', { operation: name(operation, max) });
    if (sending.phase === 'absent') return t('interventions.absentTitle', { operation: name(operation, max) });
    return t.has(`operations.${operation}.title`)
      ? t.rich(`operations.${operation}.title`, { count, outbox, max: max ?? 'none' })
      : name(operation);
  };

  return (
    <Modal
      opened
      onClose={onClose}
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
      {sending.phase === 'done' ? (
        <ResultPanel
          result={sending.result}
          followed={followed}
          subject={subject}
          rows={preview.preview?.rows ?? []}
          onClose={onClose}
          onUndo={onOpen}
        />
      ) : sending.phase === 'checking' || sending.phase === 'absent' ? (
        <UnknownPanel sending={sending} opening={opening} onClose={onClose} />
      ) : (
        <Deciding opening={opening} preview={preview} sending={sending} onClose={onClose} onConfirm={send} />
      )}
    </Modal>
  );
}

/** More rows than this are archived only after their number was typed. */
const TYPED_ABOVE = 20;

interface DecidingProps {
  opening: Opening;
  preview: Preview;
  sending: Sending;
  onClose: () => void;
  onConfirm: (request: InterventionRequest) => void;
}

function Deciding({ opening: { subject, operation, events }, preview: read, sending, onClose, onConfirm }: DecidingProps) {
  const { preview, problem, loading, readAgain } = read;
  const t = useTranslations();
  const name = useOperationName();
  const warning = useWarningText(operation);
  const { reason, field, touch } = useReason();
  const [typed, setTyped] = useState('');
  const [touched, setTouched] = useState(false);
  const plan = useMakePlan(subject.id);

  const count = preview?.allowed ?? 0;
  const mustType = operation === 'archive' && count > TYPED_ABOVE;
  const busy = sending.phase === 'sending';
  const refused = sending.phase === 'refused' ? sending.problem : null;
  const ready = preview !== null && !loading && count > 0 && (!mustType || typed.trim() === String(count));
  const moved = preview?.rows.some(({ code }) => code === 'changed_since_seen') ?? false;
  const needsApproval = (preview?.approval ?? null) !== null || refused?.code === 'approval_required';

  const confirm = () => {
    touch();
    setTouched(true);
    if (!ready || reason === null || busy) return;
    const allowed = preview.rows.filter((row) => row.allowed).map(({ event }) => ({ id: event.id, version: event.version }));
    if (needsApproval) plan.send({ operation, reason, source: { ids: allowed.map(({ id }) => id) } });
    else onConfirm({ operation, events: allowed, reason });
  };
  const again = (className?: string) => (
    <TextButton
      size="compact-sm"
      variant="default"
      icon={IconRefresh}
      onClick={readAgain}
      loading={loading}
      className={className}
      label={t('interventions.lookAgain')}
    />
  );

  return (
    // Messages on missing input are ours, in the reader's language.
    <Form className={classes.form} noValidate onSubmit={confirm}>
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
            {count > 0 && <About rows={preview.rows} />}
            <PreviewRows rows={preview.rows} />
            {moved && again(classes.start)}
            {count > 0 &&
              preview.warnings.map(({ code, count: about }) => {
                const some = about < preview.allowed ? t('interventions.some', { count: about, all: preview.allowed }) : '';
                return <SignedText key={code} text={some + warning(code)} />;
              })}
            {count > 0 && preview.orderNotLooked === true && <p className={classes.consequence}>{t('interventions.orderNotLooked')}</p>}
            {count === 0 && <p className={classes.nothing}>{t('interventions.nothingAllowed', { operation: name(operation) })}</p>}
            {needsApproval && count > 0 && <SignedText icon={IconUsers} text={t('interventions.needsApproval')} />}
            {count > 0 && <ReasonField {...field} onSubmit={confirm} />}
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
        {refused !== null && <ProblemPanel problem={refused} outbox={subject.id} untouched />}
        {plan.problem !== null && <ProblemPanel problem={plan.problem} outbox={subject.id} />}
      </div>
      <div className={classes.buttons}>
        <TextButton variant="default" onClick={onClose} label={t('interventions.cancel')} />
        {(preview === null || count > 0) && (
          <TextButton
            type="submit"
            disabled={busy || preview === null || loading}
            loading={busy || plan.sending}
            label={
              needsApproval
                ? t('plans.planIt')
                : t.has(`operations.${operation}.button`)
                  ? t(`operations.${operation}.button`, { count: preview === null ? events.length : count })
                  : name(operation)
            }
          />
        )}
      </div>
    </Form>
  );
}
