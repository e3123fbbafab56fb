import { Button } from '@mantine/core';
import { IconAlertTriangle, IconCircleFilled, IconPlayerPauseFilled } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { useIsStale } from '../figures/time';
import { useFormat } from '../figures/use-format';
import { useLiveControl, useLiveReading } from './live';
import { useShortcuts } from './shortcuts';
import classes from './frame.module.css';

/** The live dot: how old the reading is, and the switch that stops and starts it. Empty on screens that do not poll. */
export function LiveSwitch() {
  const words = useTranslations('frame');
  const format = useFormat();
  const { paused, setPaused } = useLiveControl();
  const reading = useLiveReading();
  const toggle = () => setPaused(!paused);
  useShortcuts(reading ? [{ keys: 'p', label: words(paused ? 'resume' : 'pause'), run: toggle }] : []);
  const late = useIsStale(reading?.asOf ?? null, reading?.intervalMs ?? 0);
  if (!reading) return <span className={classes.live} />;

  const status = paused ? 'paused' : reading.held ? 'held' : reading.failing ? 'failing' : late ? 'late' : 'live';
  const Icon = status === 'live' ? IconCircleFilled : status === 'failing' || status === 'late' ? IconAlertTriangle : IconPlayerPauseFilled;
  return (
    <Button
      className={classes.live}
      classNames={{ label: classes.liveLabel }}
      data-status={status}
      variant="default"
      size="xs"
      aria-pressed={paused}
      title={words(paused ? 'resume' : status === 'held' ? 'heldBecause' : 'pause')}
      onClick={toggle}
    >
      <Icon size={status === 'live' ? 8 : 14} aria-hidden />
      <span className={classes.liveWord}>{words(`live.${status}`)}</span>
      {reading.asOf !== null && <time dateTime={reading.asOf}>{format.clock(reading.asOf)}</time>}
    </Button>
  );
}
