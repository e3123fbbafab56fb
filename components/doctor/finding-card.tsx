'use client';

import { useState } from 'react';
import Link from 'next/link';
import { Button, Code } from '@mantine/core';
import { IconBell, IconBellOff } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { findingFacts, findingLines } from '@/lib/shared/doctor-text';
import type { Finding, Silence } from '@/lib/shared/doctor';
import type { ActionResult, ShownCode } from '@/lib/shared/problems';
import { visibleText } from '@/lib/shared/text/visible-text';
import { SeverityMark } from '../figures/mark';
import { RelativeTime } from '../figures/time';
import { CopyText } from '../frame/copy-text';
import { ReasonPopover } from '../frame/reason-popover';
import { useReader } from './doctor-line';
import classes from './doctor.module.css';

export interface SilenceActions {
  put: (input: { outbox: string; finding: string; reason: string }) => Promise<ActionResult<Silence>>;
  lift: (input: { outbox: string; finding: string }) => Promise<ActionResult<Silence>>;
}

interface FindingCardProps {
  finding: Finding;
  outbox: { id: string; name: string };
  /** Says which outbox it is about. */
  named: boolean;
  /** null for who may not silence. */
  silence: SilenceActions | null;
  onChanged: () => Promise<void>;
}

/** A finding: how grave, what it is, what it costs, the numbers behind it, the statement that cures it. */
export function FindingCard({ finding, outbox, named, silence, onChanged }: FindingCardProps) {
  const words = useTranslations('doctor');
  const reader = useReader();
  const { what, why } = findingLines(finding, reader);
  const facts = findingFacts(finding, reader);
  const problems = useTranslations('problems');
  const [lifting, setLifting] = useState(false);
  const [wrong, setWrong] = useState<ShownCode | null>(null);
  const lift = async (actions: SilenceActions) => {
    setLifting(true);
    const answer = await actions.lift({ outbox: outbox.id, finding: finding.id }).catch(() => null);
    // Lifted by somebody else meanwhile, it is lifted.
    const code = answer === null ? 'unavailable' : answer.ok || answer.problem.code === 'not_found' ? null : answer.problem.code;
    setWrong(code);
    if (code === null) await onChanged();
    setLifting(false);
  };
  return (
    <li className={classes.card} data-severity={finding.severity} data-silenced={finding.silence !== null || undefined}>
      <div className={classes.cardHead}>
        <SeverityMark severity={finding.severity} />
        <h3 className={classes.what}>{what}</h3>
        {named && (
          <Link href={`/doctor?outbox=${encodeURIComponent(outbox.id)}`} className={classes.outbox} prefetch={false}>
            <bdi>{outbox.name}</bdi>
          </Link>
        )}
      </div>
      {why !== '' && <p className={classes.why}>{why}</p>}
      {facts.length > 0 && (
        <dl className={classes.facts}>
          {facts.map(({ name, label, text }) => (
            <div key={name}>
              <dt>{label}</dt>
              <dd>{text}</dd>
            </div>
          ))}
        </dl>
      )}
      {finding.cure !== null && <Cure sql={finding.cure} />}
      {finding.silence !== null && (
        <p className={classes.silence}>
          {words.rich('silence.by', { actor: finding.silence.actor, ago: () => <RelativeTime at={finding.silence?.at ?? ''} /> })}
          {': '}
          <q>
            <bdi>{visibleText(finding.silence.reason)}</bdi>
          </q>
        </p>
      )}
      {silence !== null && (
        <div className={classes.buttons}>
          {finding.silence === null ? (
            <ReasonPopover
              label={words('silence.button')}
              icon={<IconBellOff size={14} aria-hidden />}
              size="compact-xs"
              title={words('silence.title')}
              reasonLabel={words('silence.reason')}
              reasonHint={words('silence.reasonHint')}
              confirm={words('silence.confirm')}
              send={(reason) => silence.put({ outbox: outbox.id, finding: finding.id, reason })}
              onDone={onChanged}
            />
          ) : (
            <Button
              size="compact-xs"
              variant="default"
              leftSection={<IconBell size={14} aria-hidden />}
              loading={lifting}
              onClick={() => void lift(silence)}
            >
              {words('silence.lift')}
            </Button>
          )}
          {wrong !== null && (
            <p className={classes.wrong} role="alert">
              {problems(wrong)}
            </p>
          )}
        </div>
      )}
    </li>
  );
}

/** A statement to read, copy and run elsewhere. */
export function Cure({ sql }: { sql: string }) {
  const words = useTranslations('doctor');
  const frame = useTranslations('frame');
  return (
    <div className={classes.cure}>
      <Code block tabIndex={0} aria-label={words('cure')}>
        {sql}
      </Code>
      <CopyText text={sql} label={frame('copySql')} />
    </div>
  );
}
