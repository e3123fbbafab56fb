import { Kbd, Modal } from '@mantine/core';
import { useTranslations } from 'next-intl';
import { keyCaps, useActiveShortcuts } from '../frame/shortcuts';
import classes from '../frame/frame.module.css';

export function ShortcutList({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const words = useTranslations('shortcuts');
  const shortcuts = useActiveShortcuts();
  const mac = /Mac|iPhone|iPad/.test(navigator.userAgent);
  return (
    <Modal opened={opened} onClose={onClose} title={words('title')} closeButtonProps={{ 'aria-label': words('close') }}>
      <dl className={classes.keys}>
        {shortcuts.map(({ keys, label }) => (
          <div key={keys}>
            <dt>{label}</dt>
            <dd>
              {keyCaps(keys, mac).map((cap) => (
                <Kbd key={cap}>{cap}</Kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Modal>
  );
}
