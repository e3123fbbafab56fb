'use client';

import { Title } from '@mantine/core';
import {
  IconAlertTriangle,
  IconArrowRight,
  IconBolt,
  IconCheck,
  IconChecks,
  IconHelpCircle,
  IconHourglass,
  IconLock,
  IconLockOpen,
  IconX,
} from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { PlainLink } from '../frame/go';
import { useState } from 'react';
import type { ProofCase, ProofResult, ProofStatus } from '@/lib/shared/changes/proofs';
import type { Action } from '@/lib/shared/problems';
import { visibleText } from '@/lib/shared/text/visible-text';
import { StateMark } from '../figures/mark';
import { RelativeTime } from '../figures/format';
import { ReasonPopover } from '../frame/reason-popover';
import { Checkbox, TextButton } from '../frame/controls';
import { outboxHref } from '../hrefs';
import { useChange } from '../frame/use-change';
import { useBecauseText, useOperationName } from '../interventions/operations';
import classes from './proof.module.css';

interface ProofActions {
  prove: Action<{ outbox: string; proof: { events: string[] } }, ProofStatus>;
  turn: Action<{ outbox: string; request: { on: boolean; reason: string } }, ProofStatus>;
}

interface ProofScreenProps {
  outbox: { id: string; name: string; database: string; table: string };
  initial: ProofStatus;
  /** null if the viewer may only read. */
  actions: ProofActions | null;
}

export function ProofScreen({ outbox, initial, actions }: ProofScreenProps) {
  const t = useTranslations('proof');
  const readOnly = useTranslations('readOnly');
  const [status, setStatus] = useState(initial);
  const [chosen, setChosen] = useState(false);
  const realEvents = Object.values(status.realEvents);
  const { send, sending, problem, problemText } = useChange(
    ({ prove }: ProofActions) => prove({ outbox: outbox.id, proof: { events: chosen ? realEvents : [] } }),
    { onDone: setStatus },
  );
  const on = status.whyReadOnly === null;
  const turning = (turn: 'turnOn' | 'turnOff', Icon: typeof IconLock, { turn: action }: ProofActions) => (
    <ReasonPopover
      label={t(turn)}
      leftSection={<Icon size={16} aria-hidden />}
      variant={turn === 'turnOn' ? 'filled' : 'default'}
      title={t(`${turn}Title`, { outbox: outbox.name })}
      text={t(`${turn}Text`)}
      reasonLabel={t('reason')}
      reasonHint={t('reasonHint')}
      confirm={t(turn)}
      // A conflict means that the mapping or the table is another one now.
      say={({ code }) => (code === 'conflict' ? t('turnConflict') : null)}
      send={(reason) => action({ outbox: outbox.id, request: { on: turn === 'turnOn', reason } })}
      onDone={setStatus}
    />
  );
  return (
    <div className={classes.screen}>
      <header>
        <Title order={1}>{t('of', { outbox: outbox.name })}</Title>
        <p className={classes.where}>
          <PlainLink href={outboxHref(outbox.id)}>
            <bdi>{outbox.name}</bdi>
          </PlainLink>
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
            {status.ready && turning('turnOn', IconLockOpen, actions)}
            {status.cases.length > 0 && (
              <TextButton
                variant={status.ready ? 'default' : 'filled'}
                icon={IconChecks}
                loading={sending}
                disabled={!status.provable}
                onClick={() => send(actions)}
                label={t(status.last === null ? 'run' : 'runAgain')}
              />
            )}
            {on && turning('turnOff', IconLock, actions)}
          </div>
        )}
        {actions !== null && status.provable && status.chosenOnly && (
          <Checkbox
            label={t('choose')}
            description={realEvents.length === 0 ? t('chooseNone') : undefined}
            disabled={realEvents.length === 0}
            checked={chosen}
            onChange={(event) => setChosen(event.currentTarget.checked)}
          />
        )}
        {problem !== null && !sending && (
          <p className={classes.wrong} role="alert">
            {problem.because === undefined ? problemText : readOnly(problem.because)}
          </p>
        )}
      </StatusCard>
      <Differences status={status} />
      <ProofResults status={status} />
      <SideEffects status={status} />
    </div>
  );
}

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

/** Every operation from every state: its result in the last proof, or that it has not been tried. */
export function ProofResults({ status: { cases, last } }: { status: ProofStatus }) {
  const t = useTranslations('proof');
  const operationName = useOperationName();
  const because = useBecauseText();
  const results = new Map((last?.results ?? []).map((result) => [keyOf(result), result]));
  const notOffered = last?.notOffered ?? [];
  return (
    <section className={classes.section}>
      <h2>{t(last === null ? 'cases' : 'results')}</h2>
      {last !== null && (
        <p className={classes.quiet}>
          {t.rich('ran', { actor: last.actor, at: () => <RelativeTime at={last.at} /> })}
          {` · ${t('fingerprint')} `}
          <code>{last.fingerprint.slice(0, 12)}</code>
        </p>
      )}
      {cases.length === 0 ? (
        <p className={classes.empty}>{t('nothing')}</p>
      ) : (
        <ul className={classes.results}>
          {cases.map((one) => (
            <Result key={keyOf(one)} of={one} result={results.get(keyOf(one)) ?? null} name={operationName(one.operation)} />
          ))}
        </ul>
      )}
      {notOffered.length > 0 && (
        <p className={classes.quiet}>
          {`${t('notOffered')}: `}
          {notOffered.map(({ operation, because: code }) => `${operationName(operation)} (${because(code)})`).join(' · ')}
        </p>
      )}
    </section>
  );
}

const keyOf = ({ operation, state, table }: ProofCase): string => `${operation} ${state} ${table}`;

const SIGNS = { round_trips: IconCheck, does_not: IconX, untried: IconHelpCircle, waiting: IconHourglass } as const;

function Result({ of, result, name }: { of: ProofCase; result: ProofResult | null; name: string }) {
  const t = useTranslations('proof');
  const because = useBecauseText();
  const { verdict = 'waiting', rows = [], changed = [], notes = [], statements = [] } = result ?? {};
  const Sign = SIGNS[verdict];
  return (
    <li className={classes.result} data-verdict={verdict}>
      <div className={classes.line}>
        <span className={classes.verdict}>
          <Sign size={16} aria-hidden />
          {t(`verdict.${verdict}`)}
        </span>
        <span className={classes.operation}>{name}</span>
        <span className={classes.states}>
          <StateMark state={of.state} />
          {result?.stateAfter != null && (
            <>
              <IconArrowRight size={14} aria-hidden />
              <StateMark state={result.stateAfter} />
            </>
          )}
        </span>
        <span className={classes.row}>
          <code>{of.table}</code>
          {rows.length > 0 && <> · {t.rich('onEvents', { ids: () => ids(rows) })}</>}
        </span>
      </div>
      {result?.because != null && (
        <p className={classes.why}>
          {t.has(`because.${result.because}`) ? t(`because.${result.because}`) : because(result.because)}
          {result.detail !== null && (
            <>
              : <code>{visibleText(result.detail)}</code>
            </>
          )}
        </p>
      )}
      {changed.length > 0 && (
        <p className={classes.changed}>
          {`${t('changed')}: `}
          {changed.map((column) => (
            <code key={column}>{column}</code>
          ))}
        </p>
      )}
      {notes.map(({ code, detail }) => (
        <p key={code} className={classes.changed}>
          {t(`note.${code}`, { detail: detail ?? '' })}
        </p>
      ))}
      {statements.length > 0 && (
        <details className={classes.details}>
          <summary>{t('details')}</summary>
          {statements.map((text) => (
            <pre key={text} tabIndex={0} className={classes.statement}>
              <code>{text}</code>
            </pre>
          ))}
        </details>
      )}
    </li>
  );
}

/** As in the confirm dialog, long ids are cut. */
const ids = (of: readonly string[]) =>
  of.map((id) => (
    <bdi key={id} className={classes.eventId} title={visibleText(id)}>
      {visibleText(id)}
    </bdi>
  ));

/** What changing a row triggers in its database, and what of that is not undone. */
function SideEffects({ status: { triggers, warnings } }: { status: ProofStatus }) {
  const t = useTranslations('proof');
  return (
    <section className={classes.section}>
      <h2>{t('sideEffects')}</h2>
      <ul className={classes.lines}>
        {triggers.map(({ table, name, timing, events }) => (
          <li key={`${table} ${name}`}>
            <IconBolt size={14} aria-hidden />
            <span>
              <code>{name}</code> {t('triggerLine', { timing, events: events.join(', '), table })}
            </span>
          </li>
        ))}
        {warnings.map(({ code, table, name, found }) => (
          <li key={`${code} ${table} ${name ?? ''}`} data-warning>
            <IconAlertTriangle size={14} aria-hidden />
            <span>
              {t(`warning.${code}`)} <code>{[name ?? table, found].filter((part) => part !== null).join(' · ')}</code>
            </span>
          </li>
        ))}
        {triggers.length + warnings.length === 0 && <li className={classes.quiet}>{t('noTriggers')}</li>}
      </ul>
    </section>
  );
}
