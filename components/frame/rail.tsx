import type { ComponentType } from 'react';
import Link from 'next/link';
import { usePathname } from 'next/navigation';
import { UnstyledButton } from '@mantine/core';
import {
  IconDatabaseSearch,
  IconHistory,
  IconLayoutList,
  IconLayoutSidebarLeftCollapse,
  IconLayoutSidebarLeftExpand,
  IconMailX,
  IconStethoscope,
  type IconProps,
} from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { can, type Permission } from '@/lib/shared/permissions';
import { useConsole } from './console';
import classes from './frame.module.css';

interface Part {
  key: 'fleet' | 'deadLetters' | 'audit' | 'doctor' | 'detect';
  href: string;
  icon: ComponentType<IconProps>;
  isHere: (pathname: string) => boolean;
  /** Whose it is, where not everybody's. */
  permission?: Permission;
}

const PARTS: Part[] = [
  { key: 'fleet', href: '/', icon: IconLayoutList, isHere: (path) => path === '/' || path.startsWith('/outboxes') },
  { key: 'deadLetters', href: '/dead-letters', icon: IconMailX, isHere: (path) => path.startsWith('/dead-letters') },
  { key: 'audit', href: '/audit', icon: IconHistory, isHere: (path) => path.startsWith('/audit') },
  { key: 'doctor', href: '/doctor', icon: IconStethoscope, isHere: (path) => path.startsWith('/doctor') },
  {
    key: 'detect',
    href: '/detect',
    icon: IconDatabaseSearch,
    isHere: (path) => path.startsWith('/detect'),
    permission: 'account:manage',
  },
];

/** The parts of the console: a rail, icons only when collapsed, a bar at the bottom of a phone. */
export function Rail({ collapsed, onToggle }: { collapsed: boolean; onToggle: () => void }) {
  const words = useTranslations('frame');
  const pathname = usePathname();
  const { role } = useConsole().account;
  const Toggle = collapsed ? IconLayoutSidebarLeftExpand : IconLayoutSidebarLeftCollapse;
  return (
    <nav className={classes.rail} data-collapsed={collapsed} aria-label={words('parts')}>
      <Link href="/" className={classes.brand} aria-label={words('home')}>
        <Brand />
        <span className={classes.railWord}>Outbox Console</span>
      </Link>
      <ul className={classes.parts}>
        {PARTS.filter(({ permission }) => permission === undefined || can(role, permission)).map(({ key, href, icon: Icon, isHere }) => (
          <li key={key}>
            <Link
              href={href}
              className={classes.part}
              aria-current={isHere(pathname) ? (pathname === href ? 'page' : 'true') : undefined}
              title={collapsed ? words(`part.${key}`) : undefined}
            >
              <Icon size={18} stroke={1.75} aria-hidden />
              <span className={classes.railWord}>{words(`part.${key}`)}</span>
            </Link>
          </li>
        ))}
      </ul>
      <UnstyledButton
        className={classes.collapse}
        onClick={onToggle}
        aria-expanded={!collapsed}
        title={words(collapsed ? 'expandRail' : 'collapseRail')}
      >
        <Toggle size={18} stroke={1.75} aria-hidden />
        <span className={classes.railWord}>{words(collapsed ? 'expandRail' : 'collapseRail')}</span>
      </UnstyledButton>
    </nav>
  );
}

/** An outbox tray with what leaves it. */
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
