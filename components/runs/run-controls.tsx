import { IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import type { Action } from '@/lib/shared/problems';
import { RATE_MAX, RATE_MIN, type Pace, type Run } from '@/lib/shared/runs/runs';
import { useFormat } from '../figures/format';
import { ButtonPopover, Form, Select, TextButton, TextField } from '../frame/controls';
import { useChange } from '../frame/use-change';
import { ProblemPanel } from '../interventions/problem-panel';
import classes from './runs.module.css';

export interface RunActions extends Record<'pause' | 'resume' | 'cancel', Action<{ run: string }>> {
  setPace: Action<{ run: string; pace: Pace }>;
}

interface RunControlsProps {
  run: Run;
  actions: RunActions;
  onChanged: () => Promise<void>;
}

export function RunControls({ run, actions, onChanged: onDone }: RunControlsProps) {
  const t = useTranslations('runs');
  const pause = useChange(actions.pause, { onDone });
  const resume = useChange(actions.resume, { onDone });
  const cancel = useChange(actions.cancel, { onDone });
  const problem = pause.problem ?? resume.problem ?? cancel.problem;
  const of = { run: run.id };
  return (
    <>
      {problem !== null && <ProblemPanel problem={problem} outbox={run.outbox} />}
      <div className={classes.buttons}>
        {/* What waits for its database goes on by itself: it can only be told not to. */}
        {run.state === 'paused' && run.because !== 'unavailable' ? (
          <TextButton icon={IconPlayerPlay} loading={resume.sending} onClick={() => resume.send(of)} label={t('resume')} />
        ) : (
          <TextButton variant="default" icon={IconPlayerPause} loading={pause.sending} onClick={() => pause.send(of)} label={t('pause')} />
        )}
        {run.followed && (
          <ButtonPopover label={t('pace.title')} width={320}>
            {(close) => <PaceForm run={run} actions={actions} onChanged={onDone} close={close} />}
          </ButtonPopover>
        )}
        <ButtonPopover label={t('cancel')} width={320}>
          {(close) => (
            <div className={classes.answer}>
              <p>{t('cancelText', { remaining: run.remaining })}</p>
              <TextButton
                loading={cancel.sending}
                onClick={() => {
                  cancel.send(of);
                  close();
                }}
                label={t('cancel')}
              />
            </div>
          )}
        </ButtonPopover>
      </div>
    </>
  );
}

const SHARES = [0.05, 0.1, 0.25, 0.5, 0.75, 1];

/** Mounted with each opening, so that it begins with the pace as it is then. */
function PaceForm({ run: { id, pace }, actions: { setPace }, onChanged, close }: RunControlsProps & { close: () => void }) {
  const t = useTranslations('runs.pace');
  const format = useFormat();
  const [share, setShare] = useState(pace.share);
  const [rate, setRate] = useState(pace.ratePerSecond === null ? '' : String(pace.ratePerSecond));
  const [wrong, setWrong] = useState(false);
  const { send, sending, problemText } = useChange(setPace, {
    onDone: () => {
      close();
      return onChanged();
    },
  });
  const submit = () => {
    const ratePerSecond = rate.trim() === '' ? null : Number(rate);
    const fits = ratePerSecond === null || (ratePerSecond >= RATE_MIN && ratePerSecond <= RATE_MAX);
    setWrong(!fits);
    if (fits) send({ run: id, pace: { share, ratePerSecond } });
  };
  const shares = [...new Set([...SHARES, pace.share])].sort((a, b) => a - b);
  return (
    <Form className={classes.answer} noValidate onSubmit={submit}>
      <label className={classes.choice}>
        {t('share')}
        <Select
          data={shares.map((value) => ({ value: String(value), label: format.percent(value) }))}
          value={String(share)}
          onChange={(event) => setShare(Number(event.currentTarget.value))}
        />
      </label>
      <p className={classes.dimmed}>{t('shareHint')}</p>
      <TextField
        label={t('rate')}
        description={t('rateHint')}
        inputMode="decimal"
        value={rate}
        error={wrong ? t('rateWrong', { min: RATE_MIN, max: RATE_MAX }) : problemText}
        onChange={(event) => setRate(event.currentTarget.value)}
      />
      <TextButton type="submit" loading={sending} label={t('set')} />
    </Form>
  );
}
