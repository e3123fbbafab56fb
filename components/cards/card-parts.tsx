import type { ReactNode } from 'react';
import { useTranslations } from 'next-intl';
import { BASE_PATH } from '@/lib/shared/base-path';
import { useFormat } from '../figures/use-format';
import classes from './card.module.css';

/** `note`: why the figures of the card are not the newest, if so. */
export type CardProps<C> = { card: C; note: ReactNode };

/** A page of the console in a window of its own: there one signs in and acts. */
export function Out({ href, children }: { href: string; children: ReactNode }) {
  const opens = useTranslations('cards.frame')('opens');
  return (
    <a href={`${BASE_PATH}${href}`} target="_blank" rel="noopener noreferrer" title={opens}>
      <bdi>{children}</bdi>
    </a>
  );
}

/** The name of a card, which leads to where one goes on, and the time of its figures. */
export function CardHead({ asOf, href, title, note }: { asOf: string; href: string; title: string; note: ReactNode }) {
  const format = useFormat();
  const words = useTranslations('cards.frame');
  return (
    <header className={classes.head}>
      <h1>
        <Out href={href}>{title}</Out>
      </h1>
      <time dateTime={asOf}>{words('asOf', { clock: format.clock(asOf), zone: format.timeZone })}</time>
      {note}
    </header>
  );
}

const NAMES_MAX = 5;
/** "escrow, billing, +12". */
export const listNames = (names: readonly string[]): string =>
  [...names.slice(0, NAMES_MAX), ...(names.length > NAMES_MAX ? [`+${names.length - NAMES_MAX}`] : [])].join(', ');
