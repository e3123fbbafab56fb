'use client';

import { useState } from 'react';
import { Button, Checkbox, Title } from '@mantine/core';
import { IconAlertTriangle, IconChecks, IconLock, IconLockOpen } from '@tabler/icons-react';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import type { ActionResult } from '@/lib/shared/problems';
import type { ProofStatus } from '@/lib/shared/changes/proofs';
import { visibleText } from '@/lib/shared/text/visible-text';
import { RelativeTime } from '../figures/time';
import { ReasonPopover } from '../frame/reason-popover';
import { useChange } from '../frame/use-change';
import { ProofResults, SideEffects } from './proof-results';
import classes from './proof.module.css';

interface ProofActions {
  prove: (input: { outbox: string; proof: { events: string[] } }) => Promise<ActionResult<ProofStatus>>;
  turn: TurnAction;
}

interface ProofScreenProps {
  outbox: { id: string; name: string; database: string; table: string };
  initial: ProofStatus;
  /** null for who may only look. */
  actions: ProofActions | null;
}

/** Whether an outbox's mapping does what it says: the proof, what it found, and the switch for changes. */
export function ProofScreen({ outbox, initial, actions }: ProofScreenProps) {
  const t = useTranslations('proof');
  const problems = useTranslations('problems');
  const readOnly = useTranslations('readOnly');
  const [status, setStatus] = useState(initial);
  const [chosen, setChosen] = useState(false);
  const realEvents = Object.values(status.realEvents);
  const prove = async (): Promise<ActionResult<ProofStatus>> =>
    actions?.prove({ outbox: outbox.id, proof: { events: chosen ? realEvents : [] } }) ??
    Promise.reject(new Error('Nobody may prove this'));
  const { send, sending, problem } = useChange(prove, { onDone: (proven) => proven !== null && setStatus(proven) });
  const on = status.whyReadOnly === null;
  return (
    <div className={classes.screen}>
      <header>
        <Title order={1}>{t('of', { outbox: outbox.name })}</Title>
        <p className={classes.where}>
          <Link href={`/outboxes/${encodeURIComponent(outbox.id)}`} prefetch={false}>
            <bdi>{outbox.name}</bdi>
          </Link>
          {` · ${outbox.database} · `}
          <code>{outbox.table}</code>
        </p>
      </header>
      <p className={classes.lead}>{t('lead')}</p>
      <StatusCard status={status}>
        {actions === null ? (
          <p className={classes.quiet}>{t('adminOnly')}</p>
        ) : (
          <div className={classes.buttons}>
            {status.ready && <SwitchForm outbox={outbox} turnOn action={actions.turn} onTurned={setStatus} />}
            {status.cases.length > 0 && (
              <Button
                variant={status.ready ? 'default' : 'filled'}
                leftSection={<IconChecks size={16} aria-hidden />}
                loading={sending}
                disabled={!status.provable}
                onClick={() => send()}
              >
                {t(status.last === null ? 'run' : 'runAgain')}
              </Button>
            )}
            {on && <SwitchForm outbox={outbox} turnOn={false} action={actions.turn} onTurned={setStatus} />}
          </div>
        )}
        {actions !== null && status.provable && status.chosenOnly && (
          <Checkbox
            size="xs"
            label={t('choose')}
            description={realEvents.length === 0 ? t('chooseNone') : undefined}
            disabled={realEvents.length === 0}
            checked={chosen}
            onChange={(event) => setChosen(event.currentTarget.checked)}
          />
        )}
        {problem !== null && !sending && (
          <p className={classes.wrong} role="alert">
            {problem.because === undefined ? problems(problem.code) : readOnly(problem.because)}
          </p>
        )}
      </StatusCard>
      <Differences status={status} />
      <ProofResults status={status} />
      <SideEffects status={status} />
    </div>
  );
}

/** Where the proof stands, in one sentence, and who decided. */
function StatusCard({ status, children }: { status: ProofStatus; children: React.ReactNode }) {
  const t = useTranslations('proof');
  const readOnly = useTranslations('readOnly');
  const { last, switched, whyReadOnly } = status;
  const on = whyReadOnly === null;
  return (
    <section className={classes.status} data-tone={on ? 'on' : last?.outcome === 'failed' ? 'failed' : 'off'}>
      <h2>{t(on ? 'status.on' : 'status.off')}</h2>
      <p>{t(`status.${standing(status)}`)}</p>
      {whyReadOnly !== null && (
        <p className={classes.quiet}>{status.provable ? readOnly(whyReadOnly) : t('needsFirst', { why: readOnly(whyReadOnly) })}</p>
      )}
      {switched !== null && (
        <p className={classes.quiet}>
          {t.rich(switched.on ? 'switchedOn' : 'switchedOff', {
            actor: switched.actor,
            at: () => <RelativeTime at={switched.at} />,
            reason: visibleText(switched.reason),
          })}
        </p>
      )}
      {children}
    </section>
  );
}

function standing({ whyReadOnly, needed, ready, last, fingerprint }: ProofStatus): string {
  if (last !== null && last.fingerprint === fingerprint && last.outcome !== 'proven') return last.outcome;
  if (ready && needed) return 'ready';
  if (!needed) return 'unneeded';
  if (whyReadOnly === null) return 'stays';
  if (last === null) return 'missing';
  return last.fingerprint === fingerprint ? 'ready' : 'outdated';
}

function Differences({ status: { differences } }: { status: ProofStatus }) {
  const t = useTranslations('proof');
  if (differences.length === 0) return null;
  return (
    <section className={classes.section}>
      <h2>{t('differences')}</h2>
      <ul className={classes.lines}>
        {differences.map(({ what, of, name, was, now }) => (
          <li key={`${what} ${of} ${name ?? ''}`}>
            <IconAlertTriangle size={14} aria-hidden />
            {t(`difference.${what}`, { of, name: name ?? '', was: was ?? '', now: now ?? '' })}
          </li>
        ))}
      </ul>
    </section>
  );
}

type TurnAction = (input: { outbox: string; request: { on: boolean; reason: string } }) => Promise<ActionResult<ProofStatus>>;

interface SwitchFormProps {
  outbox: { id: string; name: string };
  turnOn: boolean;
  action: TurnAction;
  onTurned: (status: ProofStatus) => void;
}

/** Turns changes on or off, with why. */
function SwitchForm({ outbox, turnOn, action, onTurned }: SwitchFormProps) {
  const t = useTranslations('proof');
  const Icon = turnOn ? IconLockOpen : IconLock;
  return (
    <ReasonPopover
      label={t(turnOn ? 'turnOn' : 'turnOff')}
      icon={<Icon size={16} aria-hidden />}
      variant={turnOn ? 'filled' : 'default'}
      title={t(turnOn ? 'turnOnTitle' : 'turnOffTitle', { outbox: outbox.name })}
      text={t(turnOn ? 'turnOnText' : 'turnOffText')}
      reasonLabel={t('reason')}
      reasonHint={t('reasonHint')}
      confirm={t(turnOn ? 'turnOn' : 'turnOff')}
      // Somebody was faster only in that the mapping or the table is another one now.
      say={({ code }) => (code === 'conflict' ? t('turnConflict') : null)}
      send={(reason) => action({ outbox: outbox.id, request: { on: turnOn, reason } })}
      onDone={onTurned}
    />
  );
}
