'use client';

import { UnstyledButton, VisuallyHidden } from '@mantine/core';
import {
  IconAlertTriangle,
  IconChecklist,
  IconDatabaseSearch,
  IconHistory,
  IconKeyboard,
  IconLayoutList,
  IconLayoutSidebarLeftCollapse,
  IconLayoutSidebarLeftExpand,
  IconMailX,
  IconPlugConnectedX,
  type TablerIcon,
  IconRefresh,
  IconStethoscope,
  IconUserCheck,
} from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { usePathname } from 'next/navigation';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { can, type Permission } from '@/lib/shared/permissions';
import { RAIL_COOKIE } from '@/lib/shared/preferences';
import { ClockProvider, useFormat } from '../figures/format';
import { TextButton } from '../frame/controls';
import { SentProvider, useSentNotices } from '../interventions/sent-notices';
import { ConsoleContext, type ConsoleValue, useConsole } from '../frame/console';
import { TipLayer } from '../frame/float';
import classes from '../frame/frame.module.css';
import { GoProvider, Link, useGo } from '../frame/go';
import { LiveProvider, LiveSwitch, useLiveReading } from '../frame/live';
import { OutboxBar, OutboxSwitcher } from './outbox-bar';
import { TopIcon, PersonMenus, type PersonMenusProps, savePreference, TimeZoneSelect, useFirstTimeZone } from '../frame/preferences';
import { ShortcutProvider, useShortcuts } from '../frame/shortcuts';
import { valueOf } from '../frame/use-change';

interface FrameProps extends Pick<PersonMenusProps, 'languages'> {
  signOut: (onUnheard: () => void) => Promise<void>;
  console: ConsoleValue;
  railCollapsed: boolean;
  serverNow: number;
  /** The command palette, with its button in the top bar. */
  palette?: ReactNode;
  children: ReactNode;
}

export function Frame({ console, serverNow, ...props }: FrameProps) {
  return (
    <ConsoleContext value={console}>
      <ClockProvider serverNow={serverNow}>
        <LiveProvider>
          <GoProvider>
            <ShortcutProvider>
              <SentProvider>
                <Shell {...props} />
              </SentProvider>
            </ShortcutProvider>
          </GoProvider>
        </LiveProvider>
      </ClockProvider>
    </ConsoleContext>
  );
}

function Shell({ languages, railCollapsed, palette, signOut, children }: Omit<FrameProps, 'console' | 'serverNow'>) {
  const words = useTranslations('frame');
  const [leaving, setLeaving] = useState<'signingOut' | 'notSignedOut' | null>(null);
  useFirstTimeZone();
  const leave = () => {
    setLeaving('signingOut');
    void signOut(() => setLeaving('notSignedOut'));
  };
  // Nothing that this person saw stays, from the click on.
  if (leaving !== null) return <output className={classes.leaving}>{words(leaving)}</output>;
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
      <Rail collapsedFirst={railCollapsed} />
      <div className={classes.body}>
        <header className={classes.top}>
          <div className={classes.topBar}>
            <OutboxSwitcher />
            <div className={classes.spacer} />
            {palette}
            <LiveSwitch />
            <TimeZoneSelect />
            <ShortcutHelp />
            <PersonMenus languages={languages} onSignOut={leave} />
          </div>
          <OutboxBar />
        </header>
        <Main>{children}</Main>
      </div>
      <Notices />
      <TipLayer />
    </div>
  );
}

/** The screen; hidden from a person who is signed out. Apart from the shell, which a new reading does not render. */
function Main({ children }: { children: ReactNode }) {
  return (
    <main id="main" tabIndex={-1} className={classes.main} hidden={useLiveReading()?.failing?.code === 'unauthenticated'}>
      {children}
    </main>
  );
}

/** The selection with absolute times, as copied text is read later; null if it has no relative time. */
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

/** Rarely needed: no screen waits for its script. */
const SentNotice = lazy(async () => ({ default: (await import('../interventions/panels')).SentNotice }));

function NoticeCard({ icon: Icon, title, children }: { icon: TablerIcon; title: string; children: ReactNode }) {
  return (
    <div className={`${classes.notice} ${classes.card}`}>
      <Icon className={classes.noticeIcon} size={18} aria-hidden />
      <div>
        <strong>{title}</strong>
        <div className={classes.noticeBody}>{children}</div>
      </div>
    </div>
  );
}

/** Why figures are not fresh, and interventions without an answer; at the bottom of the screen, so that nothing moves. */
function Notices() {
  const words = useTranslations('frame');
  const problems = useTranslations('problems');
  const format = useFormat();
  const reading = useLiveReading();
  const failing = reading?.failing ?? null;
  const { waiting, stay } = useGo();
  const { sent, close } = useSentNotices();
  const reload = (text: string) => <TextButton size="xs" onClick={() => window.location.reload()} label={text} />;
  return (
    <div className={classes.notices} role="status">
      {sent.length > 0 && (
        <Suspense fallback={null}>
          {sent.map((one) => (
            <SentNotice key={one.key} sent={one} onClose={() => close(one.key)} />
          ))}
        </Suspense>
      )}
      {reading?.outdated && (
        <NoticeCard icon={IconRefresh} title={words('outdated')}>
          {words('outdatedWhy')}
          {reload(words('reload'))}
        </NoticeCard>
      )}
      {waiting && (
        <NoticeCard icon={IconPlugConnectedX} title={words('offline.title')}>
          {words('offline.text')}
          <TextButton size="xs" variant="default" onClick={stay} label={words('offline.stay')} />
        </NoticeCard>
      )}
      {failing && !reading?.outdated && (
        <NoticeCard icon={IconAlertTriangle} title={words('readingFailed', { clock: format.clock(failing.since) })}>
          <span>
            {failing.code === 'unreachable' ? words('unreachable') : problems(failing.code)}
            {failing.reference && ` ${words('reference', { reference: failing.reference })}`}
          </span>
          {failing.code === 'unauthenticated' && reload(words('signIn'))}
        </NoticeCard>
      )}
    </div>
  );
}

interface Part {
  key: 'fleet' | 'deadLetters' | 'plans' | 'approvals' | 'audit' | 'doctor' | 'detect';
  href: string;
  /** The paths of its other pages, if they are not below `href`. */
  below?: string;
  icon: TablerIcon;
  /** Required to see it. */
  permission?: Permission;
}

const PARTS: Part[] = [
  { key: 'fleet', href: '/', below: '/outboxes', icon: IconLayoutList },
  { key: 'deadLetters', href: '/dead-letters', icon: IconMailX },
  { key: 'plans', href: '/plans', below: '/runs', icon: IconChecklist, permission: 'event:operate' },
  { key: 'approvals', href: '/approvals', icon: IconUserCheck, permission: 'plan:approve' },
  { key: 'audit', href: '/audit', icon: IconHistory },
  { key: 'doctor', href: '/doctor', icon: IconStethoscope },
  { key: 'detect', href: '/detect', icon: IconDatabaseSearch, permission: 'account:manage' },
];

/** The parts of the console: a rail, with icons only when collapsed; a bar at the bottom of a phone. */
function Rail({ collapsedFirst }: { collapsedFirst: boolean }) {
  const [collapsed, setCollapsed] = useState(collapsedFirst);
  const words = useTranslations('frame');
  const pathname = usePathname();
  const { role } = useConsole().account;
  const Toggle = collapsed ? IconLayoutSidebarLeftExpand : IconLayoutSidebarLeftCollapse;
  const toggleText = words(collapsed ? 'expandRail' : 'collapseRail');
  const toggle = () => {
    savePreference(RAIL_COOKIE, collapsed ? 'wide' : 'icons');
    setCollapsed(!collapsed);
  };
  return (
    <nav className={classes.rail} data-collapsed={collapsed} aria-label={words('parts')}>
      <Link href="/" className={classes.brand} aria-label={words('home')}>
        <Brand />
        <span className={classes.railWord}>Outbox Console</span>
      </Link>
      <ul className={classes.parts}>
        {PARTS.filter(({ permission }) => permission === undefined || can(role, permission)).map(
          ({ key, href, below = href, icon: Icon }) => (
            <li key={key}>
              <Link
                href={href}
                className={classes.part}
                aria-current={
                  pathname === href ? 'page' : [`${href}/`, below].some((path) => pathname.startsWith(path)) ? 'true' : undefined
                }
                title={collapsed ? words(`part.${key}`) : undefined}
              >
                <Icon size={18} stroke={1.75} aria-hidden />
                <span className={classes.railWord}>{words(`part.${key}`)}</span>
                {key === 'approvals' && <ApprovalBadge />}
              </Link>
            </li>
          ),
        )}
      </ul>
      <UnstyledButton className={classes.collapse} onClick={toggle} aria-expanded={!collapsed} title={toggleText}>
        <Toggle size={18} stroke={1.75} aria-hidden />
        <span className={classes.railWord}>{toggleText}</span>
      </UnstyledButton>
    </nav>
  );
}

/** The badge may be so much older than what it counts. */
const BADGE_EVERY_MS = 20_000;

/** How many plans wait for this person's answer; nothing without one. */
function ApprovalBadge() {
  const t = useTranslations('plans.approvals');
  const { approvals } = useConsole().plans;
  const { data } = useQuery({
    queryKey: ['approval-badge'],
    queryFn: async () => (await valueOf(approvals({}))).plans.length,
    refetchInterval: BADGE_EVERY_MS,
  });
  if (data === undefined || data === 0) return null;
  return (
    <span className={classes.badge} title={t('badge', { count: data })}>
      <span aria-hidden>{data}</span>
      <VisuallyHidden>{t('badge', { count: data })}</VisuallyHidden>
    </span>
  );
}

function Brand() {
  return (
    <svg
      width={22}
      height={22}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={2}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden
    >
      <path d="M12 13V3m0 0L8 7m4-4 4 4" />
      <path d="M4 13v6a2 2 0 0 0 2 2h12a2 2 0 0 0 2-2v-6h-5a3 3 0 0 1-6 0z" />
    </svg>
  );
}

/** The dialog's script loads with its first opening: no screen waits for it. */
const ShortcutList = lazy(() => import('./shortcut-list').then(({ ShortcutList: loaded }) => ({ default: loaded })));

function ShortcutHelp() {
  const words = useTranslations('shortcuts');
  // null before its first opening.
  const [opened, setOpened] = useState<boolean | null>(null);
  const open = () => setOpened(true);
  useShortcuts([{ keys: '?', label: words('help'), run: open }]);
  return (
    <>
      <TopIcon className={classes.wideOnly} label={words('title')} icon={IconKeyboard} onClick={open} />
      {opened !== null && (
        <Suspense fallback={null}>
          <ShortcutList opened={opened} onClose={() => setOpened(false)} />
        </Suspense>
      )}
    </>
  );
}
