import { Alert, Anchor } from '@mantine/core';
import {
  IconAlertTriangle,
  IconArrowLeft,
  IconCheck,
  IconCircleCheck,
  IconCircleDashed,
  IconCircleHalf2,
  type TablerIcon,
} from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { Link } from '../frame/go';
import { type ReactNode, useState } from 'react';
import type { Candidate, Confidence, Examination, Sample } from '@/lib/shared/detection';
import type { Action } from '@/lib/shared/problems';
import { LIVE_STATES, type LiveState } from '@/lib/shared/states';
import { StateMark } from '../figures/mark';
import { RelativeTime, useFormat } from '../figures/format';
import { TableHead } from '../frame/note';
import { CopyText, Select } from '../frame/controls';
import { useChange } from '../frame/use-change';
import classes from './detect.module.css';

/** The states that a person chose for words. */
type Confirmed = Record<string, LiveState | null>;

const SIGN: Record<Confidence, TablerIcon> = {
  certain: IconCircleCheck,
  likely: IconCircleHalf2,
  possible: IconCircleDashed,
};

const candidateHref = (database: string, candidate?: Candidate): string =>
  `/detect?${new URLSearchParams({ database, ...candidate?.name }).toString()}`;

function ConfidenceMark({ confidence }: { confidence: Confidence }) {
  const t = useTranslations('detect.confidence');
  const Sign = SIGN[confidence];
  return (
    <span className={classes.confidence} data-confidence={confidence}>
      <Sign size={14} stroke={2} aria-hidden />
      {t(confidence)}
    </span>
  );
}

export function CandidateList({ database, candidates, chosen }: { database: string; candidates: Candidate[]; chosen: string | null }) {
  const t = useTranslations('detect');
  const format = useFormat();
  return (
    <nav className={classes.list} aria-label={t('candidates')}>
      <ul>
        {candidates.map((candidate) => (
          <li key={candidate.table}>
            <Link
              href={candidateHref(database, candidate)}
              className={classes.candidate}
              aria-current={candidate.table === chosen ? 'true' : undefined}
              scroll={false}
            >
              <span className={classes.candidateHead}>
                <bdi className={classes.table}>{candidate.table}</bdi>
                <ConfidenceMark confidence={candidate.confidence} />
              </span>
              <span className={classes.candidateFacts}>
                <span>{candidate.label ?? t('byHand')}</span>
                {candidate.family !== 'outbox' && <span>{t(`families.${candidate.family}`)}</span>}
                {candidate.estimatedRows !== null && (
                  <span>{t('rows', { known: candidate.counted ? 'exact' : 'yes', count: format.compact(candidate.estimatedRows) })}</span>
                )}
                {candidate.configuredAs !== null && (
                  <span className={classes.watched}>{t('configured', { id: candidate.configuredAs })}</span>
                )}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

interface DetailProps {
  database: string;
  initial: Examination;
  examine: ExamineAction;
}

export function CandidateDetail({ database, initial, examine }: DetailProps) {
  const t = useTranslations('detect');
  const [examination, setExamination] = useState(initial);
  const [confirmed, setConfirmed] = useState<Confirmed>({});
  const { send, sending: pending, problemText } = useChange(examine, { onDone: setExamination });
  const { candidate, roles, status, sample, problem, yaml } = examination;
  const { companions, alternatives, cautions } = candidate;

  const say = (word: string, state: LiveState | null) => {
    const next = { ...confirmed, [word]: state };
    setConfirmed(next);
    send({ database, ...candidate.name, confirmed: next });
  };

  return (
    <article className={classes.detail} data-part="detail" aria-label={candidate.table}>
      <Anchor component={Link} href={candidateHref(database)} className={classes.back} size="sm">
        <IconArrowLeft size={14} aria-hidden /> {t('back')}
      </Anchor>
      <header className={classes.detailHead}>
        <h2>
          <bdi className={classes.table}>{candidate.table}</bdi>
        </h2>
        <ConfidenceMark confidence={candidate.confidence} />
        <p>{candidate.label ?? t('byHand')}</p>
      </header>
      {problemText !== null && <Alert color="red">{problemText}</Alert>}
      <div className={classes.evidence}>
        <Block title={t('why')}>
          <Points icon={IconCheck} texts={candidate.reasons.map(({ code, values }) => t(`reasons.${code}`, values))} />
          {companions.length > 0 && (
            <p className={classes.quiet}>
              {t('companions')}: {companions.map(({ table, purpose }) => `${table} (${t(`purposes.${purpose}`)})`).join(', ')}
            </p>
          )}
          {alternatives.length > 0 && (
            <p className={classes.quiet}>{t('alternatives', { shapes: alternatives.map(({ label }) => label).join(', ') })}</p>
          )}
        </Block>
        {cautions.length > 0 && (
          <Block title={t('before')}>
            <Points icon={IconAlertTriangle} kind="caution" texts={cautions.map(({ code, values }) => t(`cautions.${code}`, values))} />
          </Block>
        )}
      </div>
      {problem !== null && (
        <Alert color="orange" title={t('problem')} icon={<IconAlertTriangle size={16} aria-hidden />}>
          {t(`failures.${problem.code}`)}
          {problem.code === 'mapping' && problem.detail !== null && <p className={classes.problemDetail}>{problem.detail}</p>}
        </Alert>
      )}
      {status !== null && status.words.length > 0 && <WordTable status={status} chosen={confirmed} pending={pending} onSay={say} />}
      {sample !== null && <SampleTable sample={sample} pending={pending} />}
      {roles.length > 0 && (
        <Block title={t('mapping')}>
          <Grid label={t('mapping')} heads={[t('mappingRole'), t('mappingColumn'), t('mappingType')]}>
            {roles.map(({ role, column, type }) => (
              <tr key={role}>
                <th scope="row">{role}</th>
                <td className={classes.mono}>
                  <bdi>{column}</bdi>
                </td>
                <td className={classes.quiet}>{type}</td>
              </tr>
            ))}
          </Grid>
        </Block>
      )}
      {yaml !== '' && (
        <Block
          title={t('paste')}
          pending={pending}
          action={<CopyText text={yaml} label={t('copy')} size="xs" variant="filled" disabled={pending} />}
        >
          <p className={classes.quiet}>{t('pasteText')}</p>
          <pre className={classes.yaml} tabIndex={0} aria-label={t('paste')} data-dimmed={pending || undefined}>
            <code>{yaml}</code>
          </pre>
        </Block>
      )}
    </article>
  );
}

function Block({ title, action, pending, children }: { title: string; action?: ReactNode; pending?: boolean; children: ReactNode }) {
  return (
    <section className={classes.block} aria-busy={pending}>
      {action === undefined ? (
        <h3>{title}</h3>
      ) : (
        <div className={classes.blockHead}>
          <h3>{title}</h3>
          {action}
        </div>
      )}
      {children}
    </section>
  );
}

function Points({ icon: Icon, kind, texts }: { icon: TablerIcon; kind?: 'caution'; texts: string[] }) {
  return (
    <ul className={classes.points} data-kind={kind}>
      {texts.map((text) => (
        <li key={text}>
          <Icon size={14} aria-hidden />
          <span>{text}</span>
        </li>
      ))}
    </ul>
  );
}

function Grid({ label, heads, dimmed, children }: { label: string; heads: string[]; dimmed?: boolean; children: ReactNode }) {
  return (
    <div className={classes.scroll} tabIndex={0} role="region" aria-label={label}>
      <table className={classes.grid} data-dimmed={dimmed || undefined}>
        <TableHead columns={heads} />
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

interface WordTableProps {
  status: NonNullable<Examination['status']>;
  /** What was chosen, before the server has answered. */
  chosen: Confirmed;
  pending: boolean;
  onSay: (word: string, state: LiveState | null) => void;
}

/** The values of the status column with their states; a person decides the uncertain ones. */
function WordTable({ status: { column, words, complete, looked }, chosen, pending, onSay }: WordTableProps) {
  const t = useTranslations('detect');
  const states = useTranslations('states');
  const format = useFormat();
  return (
    <Block title={t('words')} pending={pending}>
      <p className={classes.quiet}>
        {t('wordsSeen', { column, looked })} {!complete && t('wordsIncomplete')} {t('wordsText')}
      </p>
      <table className={classes.grid} data-kind="words">
        <TableHead columns={[t('word'), { 'data-number': true, children: t('wordRows') }, t('meaning')]} />
        <tbody>
          {words.map(({ word, rows, state, sure }) => (
            <tr key={word}>
              <th scope="row" className={classes.mono}>
                <bdi>{word}</bdi>
              </th>
              <td data-number>{format.number(rows)}</td>
              <td>
                <span className={classes.meaning}>
                  <Select
                    aria-label={t('meaningOf', { word })}
                    value={(Object.hasOwn(chosen, word) ? chosen[word] : state) ?? ''}
                    onChange={(event) => onSay(word, LIVE_STATES.find((one) => one === event.currentTarget.value) ?? null)}
                    data={[{ value: '', label: t('open') }, ...LIVE_STATES.map((one) => ({ value: one, label: states(one) }))]}
                  />
                  {!sure && <span className={classes.toConfirm}>{t('toConfirm')}</span>}
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Block>
  );
}

/** The newest rows as the mapping reads them, with payload values hidden. */
function SampleTable({ sample, pending }: { sample: Sample; pending: boolean }) {
  const t = useTranslations('detect');
  const heads = [t('sampleId'), t('sampleType'), t('sampleCreated'), t('samplePayload')];
  return (
    <Block title={t('sample')} pending={pending}>
      <p className={classes.quiet}>
        {t('sampleText', { looked: sample.looked, all: String(sample.all), dead: sample.dead, unmapped: sample.unmapped })}{' '}
        {sample.stateless && t('sampleStateless')}
      </p>
      {sample.rows.length > 0 && (
        <Grid label={t('sample')} heads={sample.stateless ? heads : [t('meaning'), ...heads]} dimmed={pending}>
          {sample.rows.map(({ event, payload }) => (
            <tr key={event.id}>
              {!sample.stateless && (
                <td>
                  <StateMark state={event.state} label={event.stateLabel} />
                </td>
              )}
              <td className={classes.mono} data-cut title={event.id}>
                <bdi>{event.id}</bdi>
              </td>
              <td data-cut>
                <bdi>{event.type}</bdi>
              </td>
              <td data-steady>{event.createdAt !== null && <RelativeTime at={event.createdAt} />}</td>
              <td className={classes.mono} data-payload>
                <bdi>{payload}</bdi>
              </td>
            </tr>
          ))}
        </Grid>
      )}
    </Block>
  );
}

export type ExamineAction = Action<{ database: string; schema: string; table: string; confirmed: Confirmed }, Examination>;
