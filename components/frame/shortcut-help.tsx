import { lazy, Suspense, useState } from 'react';
import { ActionIcon } from '@mantine/core';
import { IconKeyboard } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { useShortcuts } from './shortcuts';
import classes from './frame.module.css';

/** The dialog's script comes with its first opening: no screen waits for it. */
const ShortcutList = lazy(() => import('./shortcut-list').then(({ ShortcutList: loaded }) => ({ default: loaded })));

/** Lists the keys of the screen in view, on `?` and from its button. */
export function ShortcutHelp() {
  const words = useTranslations('shortcuts');
  const [opened, setOpened] = useState(false);
  const [wanted, setWanted] = useState(false);
  const open = () => {
    setWanted(true);
    setOpened(true);
  };
  useShortcuts([{ keys: '?', label: words('help'), run: open }]);
  return (
    <>
      <ActionIcon
        className={classes.wideOnly}
        variant="subtle"
        color="gray"
        size={30}
        aria-label={words('title')}
        title={words('title')}
        onClick={open}
      >
        <IconKeyboard size={18} stroke={1.75} aria-hidden />
      </ActionIcon>
      {wanted && (
        <Suspense fallback={null}>
          <ShortcutList opened={opened} onClose={() => setOpened(false)} />
        </Suspense>
      )}
    </>
  );
}
