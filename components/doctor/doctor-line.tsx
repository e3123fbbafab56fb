import { useMemo } from 'react';
import { PlainLink } from '../frame/go';
import { useTranslations } from 'next-intl';
import { SEVERITIES, type DoctorSummary } from '@/lib/shared/doctor';
import { findingLines, type Reader } from '@/lib/shared/doctor-text';
import { SeverityMark } from '../figures/mark';
import { useFormat } from '../figures/format';
import { doctorHref } from '../hrefs';
import { Note } from '../frame/note';

/** The worst finding of an outbox, the number of others, and a link to all; nothing if there are none. */
export function DoctorLine({ outbox, doctor: { worst, counts } }: { outbox: string; doctor: DoctorSummary }) {
  const words = useTranslations('doctor');
  const reader = useReader();
  if (worst === null) return null;
  const others = SEVERITIES.map((severity) => ({ severity, count: counts[severity] - (severity === worst.severity ? 1 : 0) }))
    .filter(({ count }) => count > 0)
    .map(({ severity, count }) => words('besides', { severity, count }));
  return (
    <Note icon={<SeverityMark severity={worst.severity} />}>
      {findingLines(worst, reader).what}
      {others.length > 0 && ` · ${words('others', { counts: others.join(', ') })}`}{' '}
      <PlainLink href={doctorHref(outbox)}>{words('seeAll')}</PlainLink>
    </Note>
  );
}

/** The reader's language and formats, for texts whose keys come from the server. */
export function useReader(): Reader {
  const words = useTranslations();
  const { locale, timeZone } = useFormat();
  return useMemo(
    () => ({ locale, timeZone, say: (key, values) => words(key as never, values as never), has: (key) => words.has(key as never) }),
    [words, locale, timeZone],
  );
}
