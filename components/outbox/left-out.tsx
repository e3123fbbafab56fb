import { useTranslations } from 'next-intl';
import type { UnavailableReason } from '@/lib/shared/figures/measured';
import { groupBy } from '@/lib/shared/group-by';

interface LeftOutProps {
  /** What this table cannot have, by its name on the screen. */
  lacking: readonly { label: string; why: UnavailableReason | undefined }[];
  /** Text between this and what stands before it. */
  after?: string;
}

/** Says once which figures are not shown, and why: "left out: Dead; Retries (not in this table)". */
export function LeftOut({ lacking, after = '' }: LeftOutProps) {
  const words = useTranslations('outbox.tiles');
  const reasons = useTranslations('unavailable');
  return [...groupBy(lacking, ({ why = 'not_in_schema' }) => why)].map(([why, of], index) => (
    <span key={why}>
      {index === 0 ? after : ' · '}
      {words('leftOut', { tiles: of.map(({ label }) => label).join('; '), why: reasons(why) })}
    </span>
  ));
}
