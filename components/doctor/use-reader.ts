import { useMemo } from 'react';
import { useTranslations } from 'next-intl';
import type { Reader } from '@/lib/shared/doctor-text';
import { useFormat } from '../figures/use-format';

/** The reader's language and formats, for texts whose keys come from the server. */
export function useReader(): Reader {
  const words = useTranslations();
  const { locale, timeZone } = useFormat();
  return useMemo(
    () => ({ locale, timeZone, say: (key, values) => words(key as never, values as never), has: (key) => words.has(key as never) }),
    [words, locale, timeZone],
  );
}
