import { useTranslations } from 'next-intl';
import { useTransition } from 'react';
import { type Verdict, VERDICT_TONE } from '@/lib/shared/figures/verdicts';
import type { MarkedSnapshot } from '@/lib/shared/figures/chart-view';
import { visibleText } from '@/lib/shared/text/visible-text';
import { VerdictMark } from '../figures/mark';
import { AbsoluteTime, useFormat } from '../figures/format';
import { TextButton, TextLink } from '../frame/controls';
import { doctorHref, outboxHref, runHref } from '../hrefs';
import classes from './outbox.module.css';
import { useEvidenceText, useVerdictSentence } from './use-verdict-sentence';

const FACTS_SHOWN = 4;
/** Facts that the verdict's sentence or a tile says, besides `died_again`, which stands behind every sentence. */
const SAID: Partial<Record<Verdict, string[]>> = { relay_stopped: ['nothing_published'], dead_growing: ['newly_dead', 'dead_total'] };

const WAITING = '/events?state=pending&state=retrying&order=oldest';
const FAILING = '/events?state=retrying&state=dead&order=newest';

/** The next screen, below the outbox's address; null if only reading again can help. */
const NEXT_STEP: Record<Verdict, ((fact: (code: string, name: string) => string | null) => string) | null> = {
  source_down: null,
  cannot_see: null,
  relay_stopped: null,
  log_held: null,
  broker_refusing: () => FAILING,
  poison_row: (fact) => waitingWith('from', fact('blocking_row', 'headAt') ?? fact('endless_rows', 'firstAt')),
  starved: () => '/events?state=retrying&order=oldest',
  no_handler: (fact) => waitingWith('type', fact('type_never_out', 'type')),
  blocked_on_key: (fact) => waitingWith('aggregate', fact('key_behind', 'key')),
  dead_growing: () => '/dead-letters',
  stuck_processing: () => '/events?state=processing&order=oldest',
  falling_behind: () => WAITING,
  healthy: () => '/events',
};

/** Those waiting of this type or aggregate, or created at this time. */
function waitingWith(name: 'type' | 'aggregate' | 'from', value: string | null): string {
  if (value === null) return WAITING;
  const end = name === 'from' && { to: new Date(Date.parse(value) + 1).toISOString() };
  return `${WAITING}&${new URLSearchParams({ [name]: value, ...end }).toString()}`;
}

const named = (sessions: NonNullable<MarkedSnapshot['sessions']>): string =>
  sessions.map(({ name, count }) => `${visibleText(name)} (${String(count)})`).join(', ');

interface VerdictBannerProps extends Pick<MarkedSnapshot, 'outbox' | 'summary' | 'sessions' | 'stale' | 'run'> {
  onRefresh: () => Promise<void>;
}

export function VerdictBanner({ outbox, summary, sessions, stale, run, onRefresh }: VerdictBannerProps) {
  const words = useTranslations('outbox');
  const format = useFormat();
  const sentence = useVerdictSentence(summary);
  const evidenceText = useEvidenceText();
  const [asking, ask] = useTransition();
  const { verdict, since, evidence, holds } = summary.diagnosis;
  const others = holds.filter((one) => one.verdict !== verdict);
  // No row waits behind a replication slot: the doctor says what to do.
  const atDoctor = (of: Verdict) => of === 'log_held' || (of === 'relay_stopped' && summary.slot !== null);
  const hrefOf = (of: Verdict): string | null => {
    const step = NEXT_STEP[of]?.((code, name) => {
      const value = evidence.find((fact) => fact.code === code)?.values[name];
      return typeof value === 'string' ? value : null;
    });
    if (atDoctor(of)) return doctorHref(outbox.id);
    if (of === 'relay_stopped') return outbox.runbook;
    return step === undefined ? null : outboxHref(outbox.id, step);
  };
  const href = hrefOf(verdict);
  const stepName = (of: Verdict) => words(`nextStep.${atDoctor(of) ? 'log_held' : hrefOf(of) === null ? 'source_down' : of}`);
  const stopped = verdict === 'relay_stopped' && !atDoctor(verdict);
  const said = ['died_again', ...(SAID[verdict] ?? [])];
  const again = evidence.flatMap((fact) => (fact.code === 'died_again' ? (evidenceText(fact) ?? []) : []));
  const facts = evidence.flatMap((fact) => (said.includes(fact.code) ? [] : (evidenceText(fact) ?? [])));
  return (
    <section className={classes.banner} data-tone={VERDICT_TONE[verdict]} aria-label={words('verdict')}>
      <div className={classes.bannerText}>
        <div className={classes.bannerHead}>
          <VerdictMark verdict={verdict} />
          <p className={classes.sentence}>{[sentence, ...again].join(' · ')}</p>
        </div>
        {/* Their room is kept, and what comes and goes stands last: what one reading says more than another must not move the screen. */}
        <ul className={classes.facts}>
          {since !== null && verdict !== 'healthy' && (
            <li>
              {words('since')} <AbsoluteTime at={since} />
            </li>
          )}
          {facts.slice(0, FACTS_SHOWN).map((fact) => (
            <li key={fact}>{fact}</li>
          ))}
          {stopped && <li className={classes.check}>{words('stopped')}</li>}
          {stopped && sessions !== undefined && (
            <li className={classes.check}>
              {words('sessions', { shown: sessions === null ? 'no' : 'yes', count: sessions?.length ?? 0, names: named(sessions ?? []) })}
            </li>
          )}
          {stale && verdict !== 'source_down' && <li>{words('lastGood', { clock: format.clock(stale.since), problem: stale.problem })}</li>}
        </ul>
        <ul className={classes.facts}>
          {others.map((one, index) => {
            const to = hrefOf(one.verdict);
            return (
              <li key={one.verdict}>
                {index === 0 && <span>{words('alsoHolds')}</span>} <VerdictMark verdict={one.verdict} />{' '}
                {one.since !== null && words.rich('alsoSince', { time: () => <AbsoluteTime at={one.since ?? ''} /> })}{' '}
                {to !== null && <TextLink href={to} inherit underline="always" label={stepName(one.verdict)} />}
              </li>
            );
          })}
          {run !== null && (
            <li>
              {words.rich('runUnderWay', {
                ...{ maker: visibleText(run.maker), done: run.requested - run.remaining, all: run.requested },
                run: (text) => <TextLink href={runHref(run.id)} inherit underline="always" label={text} />,
              })}
            </li>
          )}
        </ul>
      </div>
      {href === null ? (
        <TextButton size="sm" variant="default" loading={asking} onClick={() => ask(onRefresh)} label={stepName(verdict)} />
      ) : (
        <TextButton
          size="sm"
          variant={verdict === 'healthy' ? 'default' : 'filled'}
          href={href}
          target={stopped ? '_blank' : undefined}
          label={stepName(verdict)}
        />
      )}
    </section>
  );
}
