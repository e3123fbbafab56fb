'use client';

import { useTranslations } from 'next-intl';
import type { ProofResult } from '@/lib/shared/proofs';
import { visibleText } from '@/lib/shared/visible-text';
import classes from './proof.module.css';

/** Characters that tell two digests apart. */
const DIGEST_SHOWN = 12;

/** The row before and after, column by column, and the statements as they ran. */
export function ResultDetails({ result: { before, after, changed, statements, digested = [] } }: { result: ProofResult }) {
  const t = useTranslations('proof');
  const names = Object.keys(before ?? {}).sort((a, b) => Number(changed.includes(b)) - Number(changed.includes(a)));
  const digests = digested.filter((name) => names.includes(name));
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
                  <Cell value={before[name] ?? null} isDigest={digested.includes(name)} />
                  {after !== null && <Cell value={name in after ? (after[name] ?? null) : undefined} isDigest={digested.includes(name)} />}
                </tr>
              ))}
            </tbody>
          </table>
          {digests.length > 0 && <p className={classes.quiet}>{t('digests', { columns: digests.join(', ') })}</p>}
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

function Cell({ value, isDigest }: { value: string | null | undefined; isDigest: boolean }) {
  const t = useTranslations('proof');
  if (value === undefined) return <td />;
  if (value === null)
    return (
      <td>
        <span className={classes.null}>NULL</span>
      </td>
    );
  if (isDigest)
    return (
      <td>
        <span className={classes.null}>{t('digest')}</span> <bdi title={value}>{value.slice(0, DIGEST_SHOWN)}</bdi>
      </td>
    );
  return (
    <td>
      <bdi>{visibleText(value)}</bdi>
    </td>
  );
}
