import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { IconLock } from '@tabler/icons-react';
import type { OutboxInfo } from '@/lib/shared/model';
import { PROOF_REASONS } from '@/lib/shared/changes/read-only';
import { Note } from '../frame/note';

/** Leads to the proof, where that is what makes the outbox read-only. */
function ProofLink({ outbox }: { outbox: Pick<OutboxInfo, 'id' | 'whyReadOnly'> }) {
  const t = useTranslations('proof');
  if (outbox.whyReadOnly === null || !PROOF_REASONS.includes(outbox.whyReadOnly)) return null;
  return (
    <Link href={`/outboxes/${encodeURIComponent(outbox.id)}/settings`} prefetch={false}>
      {t('open')}
    </Link>
  );
}

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
