'use client';

import { Button, CopyButton } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import classes from './detect.module.css';

/** The lines for the configuration, with a button that takes them along. */
export function PasteBlock({ yaml, pending }: { yaml: string; pending: boolean }) {
  const t = useTranslations('detect');
  return (
    <section className={classes.block} aria-busy={pending}>
      <div className={classes.blockHead}>
        <h3>{t('paste')}</h3>
        <CopyButton value={yaml} timeout={1_500}>
          {({ copied, copy }) => (
            <Button
              size="xs"
              onClick={copy}
              disabled={pending}
              leftSection={copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />}
            >
              {t(copied ? 'copied' : 'copy')}
            </Button>
          )}
        </CopyButton>
      </div>
      <p className={classes.quiet}>{t('pasteText')}</p>
      <pre className={classes.yaml} tabIndex={0} aria-label={t('paste')} data-dimmed={pending || undefined}>
        <code>{yaml}</code>
      </pre>
    </section>
  );
}
