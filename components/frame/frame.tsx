'use client';

import { useState, type ReactNode } from 'react';
import { useTranslations } from 'next-intl';
import { RAIL_COOKIE } from '@/lib/shared/preferences';
import { SentProvider } from '../interventions/sent-notices';
import {
  AccountMenu,
  type AccountMenuProps,
  LanguageMenu,
  ThemeMenu,
  TimeZoneSelect,
  useFirstTimeZone,
  savePreference,
} from './preferences';
import { ClockProvider } from './clock';
import { ConsoleProvider, type ConsoleValue } from './console';
import { LiveProvider } from './live';
import { LiveSwitch } from './live-switch';
import { Notices } from './notices';
import { OutboxBar, OutboxSwitcher } from './outbox-bar';
import { Rail } from './rail';
import { ShortcutHelp } from './shortcut-help';
import { ShortcutProvider } from './shortcuts';
import classes from './frame.module.css';

interface FrameProps extends AccountMenuProps {
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

/**
 * What is copied is read later and elsewhere, where "3 m ago" means nothing: relative times go to the clipboard as the
 * absolute ones they stand for. Returns null when the selection holds none, and the browser then copies as always.
 */
function selectionWithAbsoluteTimes(selection: Selection | null): string | null {
  if (!selection || selection.isCollapsed || selection.rangeCount === 0) return null;
  const range = selection.getRangeAt(0);
  const held = document.createElement('div');
  held.append(range.cloneContents());
  const times = held.querySelectorAll<HTMLElement>('time[data-absolute]');
  const around = range.commonAncestorContainer.parentElement?.closest<HTMLElement>('time[data-absolute]');
  if (around) return around.dataset.absolute ?? null;
  if (times.length === 0) return null;
  for (const time of times) time.textContent = time.dataset.absolute ?? time.textContent;
  // innerText keeps the lines and tabs of a table, but only for elements that are laid out.
  held.style.cssText = 'position:fixed;left:-99999px;top:0;white-space:pre-wrap';
  document.body.append(held);
  const text = held.innerText;
  held.remove();
  return text;
}
