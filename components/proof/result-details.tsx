'use client';

import { useTranslations } from 'next-intl';
import type { ProofResult } from '@/lib/shared/proofs';
import { visibleText } from '@/lib/shared/visible-text';
import classes from './proof.module.css';

/** The row before and after, column by column, and the statements as they ran. */
export function ResultDetails({ result: { before, after, changed, statements } }: { result: ProofResult }) {
  const t = useTranslations('proof');
  const names = Object.keys(before ?? {}).sort((a, b) => Number(changed.includes(b)) - Number(changed.includes(a)));
  return (
    <details className={classes.details}>
      <summary>{t('details')}</summary>
      {before !== null && names.length > 0 && (
        <div className={classes.scroll} tabIndex={0} role="region" aria-label={`${t('before')}, ${t('after')}`}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t('column')}</th>
                <th scope="col">{t('before')}</th>
                <th scope="col">{t('after')}</th>
              </tr>
            </thead>
            <tbody>
              {names.map((name) => (
                <tr key={name} data-changed={changed.includes(name)}>
                  <th scope="row">{name}</th>
                  <Cell value={before[name] ?? null} />
                  {after !== null && <Cell value={name in after ? (after[name] ?? null) : undefined} />}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <h3>{t('statements')}</h3>
      {statements.map(({ text, parameters }, index) => (
        <div key={index} className={classes.statement}>
          <pre tabIndex={0}>
            <code>{text}</code>
          </pre>
          {parameters.length > 0 && (
            <p className={classes.parameters}>
              {parameters.map((value, position) => `$${String(position + 1)} = ${visibleText(value)}`).join('   ')}
            </p>
          )}
        </div>
      ))}
    </details>
  );
}

function Cell({ value }: { value: string | null | undefined }) {
  if (value === undefined) return <td />;
  return <td>{value === null ? <span className={classes.null}>NULL</span> : <bdi>{visibleText(value)}</bdi>}</td>;
}
