'use client';

import { IconLock } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import type { OutboxInfo } from '@/lib/shared/model';
import { Note } from '../frame/note';
import { ProofLink } from './proof-link';

/** Why an outbox cannot be changed from here and what to do about it; nothing where it can. */
export function ReadOnlyNote({ outbox }: { outbox: Pick<OutboxInfo, 'id' | 'whyReadOnly'> }) {
  const t = useTranslations('readOnly');
  if (outbox.whyReadOnly === null) return null;
  return (
    <Note icon={<IconLock size={16} stroke={1.75} aria-hidden />} dashed>
      {t(outbox.whyReadOnly)} <ProofLink outbox={outbox} />
    </Note>
  );
}
