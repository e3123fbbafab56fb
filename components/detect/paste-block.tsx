'use client';

import { useTranslations } from 'next-intl';
import { CopyText } from '../frame/copy-text';
import classes from './detect.module.css';

/** The lines for the configuration, with a button that takes them along. */
export function PasteBlock({ yaml, pending }: { yaml: string; pending: boolean }) {
  const t = useTranslations('detect');
  return (
    <section className={classes.block} aria-busy={pending}>
      <div className={classes.blockHead}>
        <h3>{t('paste')}</h3>
        <CopyText text={yaml} label={t('copy')} size="xs" variant="filled" disabled={pending} />
      </div>
      <p className={classes.quiet}>{t('pasteText')}</p>
      <pre className={classes.yaml} tabIndex={0} aria-label={t('paste')} data-dimmed={pending || undefined}>
        <code>{yaml}</code>
      </pre>
    </section>
  );
}
