import { IconArrowRight, IconCheck, IconHelpCircle, IconHourglass, IconX, IconAlertTriangle, IconBolt } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import type { ProofCase, ProofResult, ProofStatus } from '@/lib/shared/changes/proofs';
import { visibleText } from '@/lib/shared/text/visible-text';
import { StateMark } from '../figures/mark';
import { RelativeTime } from '../figures/time';
import { useBecauseText, useOperationName } from '../interventions/operations';
import classes from './proof.module.css';

/** Every operation from every state: what it did in the last proof, or that it has not been tried. */
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
  const verdict = result?.verdict ?? 'waiting';
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
          {result !== null && result.rows.length > 0 && (
            <>
              {' · '}
              {t.rich('onEvents', { ids: () => <EventIds of={result.rows} /> })}
            </>
          )}
        </span>
      </div>
      {result?.because != null && (
        <p className={classes.why}>
          {t.has(`because.${result.because}`) ? t(`because.${result.because}`) : because(result.because)}
          {result.detail !== null && (
            <>
              {': '}
              <code>{visibleText(result.detail)}</code>
            </>
          )}
        </p>
      )}
      {result !== null && result.changed.length > 0 && (
        <p className={classes.changed}>
          {`${t('changed')}: `}
          {result.changed.map((column) => (
            <code key={column}>{column}</code>
          ))}
        </p>
      )}
      {result?.notes.map(({ code, detail }) => (
        <p key={code} className={classes.changed}>
          {t(`note.${code}`, { detail: detail ?? '' })}
        </p>
      ))}
      {result !== null && result.statements.length > 0 && (
        <details className={classes.details}>
          <summary>{t('details')}</summary>
          {result.statements.map((text) => (
            <pre key={text} tabIndex={0} className={classes.statement}>
              <code>{text}</code>
            </pre>
          ))}
        </details>
      )}
    </li>
  );
}

/** As in the confirm dialog, what does not fit is cut. */
function EventIds({ of }: { of: readonly string[] }) {
  return of.map((id) => (
    <bdi key={id} className={classes.eventId} title={visibleText(id)}>
      {visibleText(id)}
    </bdi>
  ));
}

/** What changing a row sets off in its database, and what of it is not taken back. */
export function SideEffects({ status: { triggers, warnings } }: { status: ProofStatus }) {
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
