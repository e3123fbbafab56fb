'use client';

import { ActionIcon, Menu } from '@mantine/core';
import { IconLogout, IconUserCircle } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { useConsole } from './console';
import { LanguageChoice, ThemeChoice, TimeZoneChoice, type Language } from './preferences';
import classes from './frame.module.css';

export interface AccountMenuProps {
  languages: Language[];
  signOut: () => Promise<void>;
}

/** Who is signed in and as what; on a phone the preferences too, whose own controls have no room there. */
export function AccountMenu({ languages, signOut }: AccountMenuProps) {
  const { account } = useConsole();
  const words = useTranslations('frame');
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          size={30}
          aria-label={words('account')}
          title={`${account.name} · ${words(`roles.${account.role}`)}`}
        >
          <IconUserCircle size={20} stroke={1.75} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <span className={classes.accountName}>{account.name}</span>
          <span className={classes.accountRole}>{words(`roles.${account.role}`)}</span>
        </Menu.Label>
        <div className={classes.phoneOnly}>
          <Menu.Divider />
          <Menu.Label>{words('theme')}</Menu.Label>
          <ThemeChoice />
          <Menu.Divider />
          <Menu.Label>{words('language')}</Menu.Label>
          <LanguageChoice languages={languages} />
          <Menu.Divider />
          <Menu.Label>{words('timeZone')}</Menu.Label>
          <TimeZoneChoice />
        </div>
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={() => void signOut()}>
          {words('signOut')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
