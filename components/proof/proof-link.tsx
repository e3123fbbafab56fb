'use client';

import Link from 'next/link';
import { useTranslations } from 'next-intl';
import type { OutboxInfo } from '@/lib/shared/model';
import { PROOF_REASONS } from '@/lib/shared/changes/read-only';

/** Leads to the proof, where that is what makes the outbox read-only. */
export function ProofLink({ outbox }: { outbox: Pick<OutboxInfo, 'id' | 'whyReadOnly'> }) {
  const t = useTranslations('proof');
  if (outbox.whyReadOnly === null || !PROOF_REASONS.includes(outbox.whyReadOnly)) return null;
  return (
    <Link href={`/outboxes/${encodeURIComponent(outbox.id)}/settings`} prefetch={false}>
      {t('open')}
    </Link>
  );
}
