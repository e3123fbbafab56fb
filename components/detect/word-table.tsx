'use client';

import { NativeSelect } from '@mantine/core';
import { useTranslations } from 'next-intl';
import type { StatusWord } from '@/lib/shared/detection';
import { LIVE_STATES, type LiveState } from '@/lib/shared/states';
import { useFormat } from '../figures/use-format';
import classes from './detect.module.css';

interface WordTableProps {
  column: string;
  words: StatusWord[];
  /** Every word of the table is here. */
  complete: boolean;
  /** What was chosen, before it is answered. */
  chosen: Record<string, LiveState | null>;
  pending: boolean;
  onSay: (word: string, state: LiveState | null) => void;
}

const OPEN = '';

/** The words of the status column with what they mean; what is not sure is for a person to say. */
export function WordTable({ column, words, complete, chosen, pending, onSay }: WordTableProps) {
  const t = useTranslations('detect');
  const states = useTranslations('states');
  const format = useFormat();
  return (
    <section className={classes.block} aria-busy={pending}>
      <h3>{t('words')}</h3>
      <p className={classes.quiet}>
        {t('wordsText', { column })} {!complete && t('wordsIncomplete')}
      </p>
      <table className={classes.grid} data-kind="words">
        <thead>
          <tr>
            <th scope="col">{t('word')}</th>
            <th scope="col" data-number>
              {t('wordRows')}
            </th>
            <th scope="col">{t('meaning')}</th>
          </tr>
        </thead>
        <tbody>
          {words.map(({ word, rows, state, sure }) => {
            const value = Object.hasOwn(chosen, word) ? chosen[word] : state;
            return (
              <tr key={word}>
                <th scope="row" className={classes.mono}>
                  <bdi>{word}</bdi>
                </th>
                <td data-number>{format.number(rows)}</td>
                <td>
                  <span className={classes.meaning}>
                    <NativeSelect
                      size="xs"
                      aria-label={t('meaningOf', { word })}
                      value={value ?? OPEN}
                      onChange={(event) => onSay(word, LIVE_STATES.find((one) => one === event.currentTarget.value) ?? null)}
                      data={[{ value: OPEN, label: t('open') }, ...LIVE_STATES.map((one) => ({ value: one, label: states(one) }))]}
                    />
                    {!sure && <span className={classes.toConfirm}>{t('toConfirm')}</span>}
                  </span>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}
