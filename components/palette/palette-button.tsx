'use client';

import { Button } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { lazy, Suspense, useState } from 'react';
import { useShortcuts } from '../frame/shortcuts';
import type { PaletteProps } from './palette';
import classes from './palette.module.css';

const load = async () => {
  const [{ Palette }, { palette }] = await Promise.all([import('./palette'), import('./palette-store')]);
  return { Palette, open: palette.open };
};
const Palette = lazy(async () => ({ default: (await load()).Palette }));

/** The palette's place in the top bar; its script comes with its first opening. */
export function PaletteButton(props: PaletteProps) {
  const t = useTranslations('palette');
  const [wanted, setWanted] = useState(false);
  const open = () => {
    setWanted(true);
    void load().then((loaded) => loaded.open());
  };
  useShortcuts([{ keys: 'mod+k', label: t('label'), run: open }]);
  return (
    <>
      <Button
        variant="default"
        size="xs"
        className={classes.button}
        leftSection={<IconSearch size={14} aria-hidden />}
        onClick={open}
        onPointerEnter={() => void load()}
        aria-label={t('label')}
        aria-keyshortcuts="Meta+K Control+K"
      >
        <span className={classes.word}>{t('open')}</span>
        <kbd className={classes.keys} aria-hidden>
          ⌘K
        </kbd>
      </Button>
      {wanted && (
        <Suspense fallback={null}>
          <Palette {...props} />
        </Suspense>
      )}
    </>
  );
}
