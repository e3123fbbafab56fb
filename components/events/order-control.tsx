'use client';

import { SegmentedControl } from '@mantine/core';
import { useTranslations } from 'next-intl';
import type { EventFilter } from '@/lib/shared/model';

interface OrderControlProps {
  filter: EventFilter;
  onFilter: (filter: EventFilter) => void;
}

/** Newest or oldest first; newest is what a filter without an order means. */
export function OrderControl({ filter, onFilter }: OrderControlProps) {
  const t = useTranslations('events');
  return (
    <SegmentedControl
      size="xs"
      value={filter.order ?? 'newest'}
      onChange={(value) => onFilter({ ...filter, order: value === 'oldest' ? 'oldest' : undefined })}
      data={[
        { value: 'newest', label: t('newest') },
        { value: 'oldest', label: t('oldest') },
      ]}
      aria-label={t('order')}
    />
  );
}
