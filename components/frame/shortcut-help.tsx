'use client';

import { ActionIcon, Kbd, Modal } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconKeyboard } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { keyCaps } from './shortcut-match';
import { useActiveShortcuts, useShortcuts } from './shortcuts';
import classes from './frame.module.css';

/** Lists the keys of the screen in view, on `?` and from its button. */
export function ShortcutHelp() {
  const words = useTranslations('shortcuts');
  const [opened, { open, close }] = useDisclosure(false);
  const shortcuts = useActiveShortcuts();
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
      <Modal opened={opened} onClose={close} title={words('title')} closeButtonProps={{ 'aria-label': words('close') }}>
        {opened && (
          <dl className={classes.keys}>
            {shortcuts.map(({ keys, label }) => (
              <div key={keys}>
                <dt>{label}</dt>
                <dd>
                  {keyCaps(keys, /Mac|iPhone|iPad/.test(navigator.userAgent)).map((cap) => (
                    <Kbd key={cap}>{cap}</Kbd>
                  ))}
                </dd>
              </div>
            ))}
          </dl>
        )}
      </Modal>
    </>
  );
}
