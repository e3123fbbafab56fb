'use client';

import { Skeleton, VisuallyHidden } from '@mantine/core';
import { useTranslations } from 'next-intl';
import classes from './failure.module.css';

/** Stands in for a screen on its way: its title and the panel most screens consist of, so that the click is answered. */
export function ScreenSkeleton() {
  const words = useTranslations('frame');
  return (
    <div className={classes.skeleton} role="status">
      <VisuallyHidden>{words('loading')}</VisuallyHidden>
      <Skeleton height={28} width={240} animate={false} />
      <Skeleton height={320} animate={false} />
    </div>
  );
}
