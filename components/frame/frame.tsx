'use client';

import { useState, type ReactNode } from 'react';
import { useTranslations } from 'next-intl';
import { RAIL_COOKIE } from '@/lib/shared/preferences';
import { SentProvider } from '../interventions/sent-notices';
import { AccountMenu, type AccountMenuProps } from './account-menu';
import { ClockProvider } from './clock';
import { ConsoleProvider, type ConsoleValue } from './console';
import { selectionWithAbsoluteTimes } from './copy-times';
import { LiveProvider } from './live';
import { LiveSwitch } from './live-switch';
import { Notices } from './notices';
import { OutboxBar } from './outbox-bar';
import { OutboxSwitcher } from './outbox-switcher';
import { LanguageMenu, ThemeMenu, TimeZoneSelect, useFirstTimeZone } from './preferences';
import { Rail } from './rail';
import { savePreference } from './save-preference';
import { ShortcutHelp } from './shortcut-help';
import { ShortcutProvider } from './shortcuts';
import classes from './frame.module.css';

export interface FrameProps extends AccountMenuProps {
  console: ConsoleValue;
  /** The rail as it was left. */
  railCollapsed: boolean;
  /** The server's time at rendering, in milliseconds. */
  serverNow: number;
  /** The command palette: its button stands in the top bar, its dialog where it likes. */
  palette?: ReactNode;
  children: ReactNode;
}

/** Everything around a screen: rail, top bar, live dot, keys, notices. */
export function Frame({ console, serverNow, ...props }: FrameProps) {
  return (
    <ConsoleProvider value={console}>
      <ClockProvider serverNow={serverNow}>
        <LiveProvider>
          <ShortcutProvider>
            <SentProvider>
              <Shell {...props} />
            </SentProvider>
          </ShortcutProvider>
        </LiveProvider>
      </ClockProvider>
    </ConsoleProvider>
  );
}

function Shell({ languages, railCollapsed, palette, signOut, children }: Omit<FrameProps, 'console' | 'serverNow'>) {
  const words = useTranslations('frame');
  const [collapsed, setCollapsed] = useState(railCollapsed);
  useFirstTimeZone();
  return (
    <div
      className={classes.shell}
      onCopy={(event) => {
        const text = selectionWithAbsoluteTimes(window.getSelection());
        if (text === null) return;
        event.clipboardData.setData('text/plain', text);
        event.preventDefault();
      }}
    >
      <a href="#main" className={classes.skip}>
        {words('skip')}
      </a>
      <Rail
        collapsed={collapsed}
        onToggle={() => {
          savePreference(RAIL_COOKIE, collapsed ? 'wide' : 'icons');
          setCollapsed(!collapsed);
        }}
      />
      <div className={classes.body}>
        <header className={classes.top}>
          <div className={classes.topBar}>
            <OutboxSwitcher />
            <div className={classes.spacer} />
            {palette}
            <LiveSwitch />
            <TimeZoneSelect />
            <ShortcutHelp />
            <ThemeMenu />
            <LanguageMenu languages={languages} />
            <AccountMenu languages={languages} signOut={signOut} />
          </div>
          <OutboxBar />
        </header>
        <main id="main" tabIndex={-1} className={classes.main}>
          {children}
        </main>
      </div>
      <Notices />
    </div>
  );
}
