'use client';

import { ActionIcon, CopyButton } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import classes from './event-screen.module.css';

/** A value in mono with a button that copies it whole, however it is cut on screen. */
export function CopyValue({ value, label }: { value: string; label: string }) {
  return (
    <span className={classes.copyValue}>
      <bdi className={classes.mono}>{value}</bdi>
      <CopyAction value={value} label={label} />
    </span>
  );
}

export function CopyAction({ value, label }: { value: string; label: string }) {
  const t = useTranslations('event');
  return (
    <CopyButton value={value} timeout={1_500}>
      {({ copied, copy }) => (
        <ActionIcon
          size="sm"
          variant="subtle"
          color={copied ? 'green' : 'gray'}
          onClick={copy}
          aria-label={copied ? t('copied', { label }) : t('copy', { label })}
          title={copied ? t('copied', { label }) : t('copy', { label })}
        >
          {copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />}
        </ActionIcon>
      )}
    </CopyButton>
  );
}
