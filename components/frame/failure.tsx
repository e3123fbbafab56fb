'use client';

import { Button, Title, Skeleton, VisuallyHidden } from '@mantine/core';
import { useTranslations } from 'next-intl';
import { Link } from './go';
import { isShownCode, type ShownCode } from '@/lib/shared/problems';
import classes from './failure.module.css';

/** A page that could not be shown: what happened, what it means for events, what to do, and a reference for the log. */
export function Failure({ error, retry }: { error: unknown; retry: () => void }) {
  const words = useTranslations('errors');
  const problems = useTranslations('problems');
  const { code, reference } = readDigest(error);
  return (
    <div className={classes.page} role="alert">
      <Title order={1}>{words('title')}</Title>
      <p>{code ? problems(code) : words('unexpected')}</p>
      <p className={classes.dimmed}>{words('events')}</p>
      {reference !== null && (
        <p className={classes.dimmed}>{words.rich('reference', { reference, code: (text) => <code>{text}</code> })}</p>
      )}
      <Button onClick={retry}>{words('retry')}</Button>
    </div>
  );
}

/** Failures of our pages have `<problem code>:<reference>`; others have Next's own hash, or nothing. */
function readDigest(error: unknown): { code: ShownCode | null; reference: string | null } {
  const digest = error instanceof Error && 'digest' in error && typeof error.digest === 'string' ? error.digest : null;
  const [code = '', reference] = digest?.split(':') ?? [];
  if (reference !== undefined && isShownCode(code)) return { code, reference };
  return { code: null, reference: digest };
}

/** An unknown address, or one this person may not open: the same page on purpose. */
export function NothingHere() {
  const words = useTranslations('errors');
  return (
    <div className={classes.page}>
      <Title order={1}>{words('notFound')}</Title>
      <p>{words('notFoundWhy')}</p>
      <Button component={Link} href="/">
        {words('toFleet')}
      </Button>
    </div>
  );
}

/** Shown while a screen loads: its title and the panel most screens have, so that a click has a visible result. */
export function ScreenSkeleton() {
  return (
    <div className={classes.skeleton} role="status">
      <VisuallyHidden>{useTranslations('frame')('loading')}</VisuallyHidden>
      <Skeleton height={28} width={240} animate={false} />
      <Skeleton height={320} animate={false} />
    </div>
  );
}
