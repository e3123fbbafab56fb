'use client';

import Link from 'next/link';
import { Button, Title } from '@mantine/core';
import { useTranslations } from 'next-intl';
import classes from './failure.module.css';

/** An address that leads nowhere, or nowhere this person may go: the two look the same on purpose. */
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
