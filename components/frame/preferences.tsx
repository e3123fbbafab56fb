import { useEffect, useState } from 'react';
import { useRouter } from 'next/navigation';
import { ActionIcon, Menu, Select, useMantineColorScheme, type MantineColorScheme } from '@mantine/core';
import { IconLanguage, IconBrightness, IconLogout, IconUserCircle } from '@tabler/icons-react';
import { useLocale, useTimeZone, useTranslations } from 'next-intl';
import { DEFAULT_TIME_ZONE, LOCALE_COOKIE, TIME_ZONE_COOKIE } from '@/lib/shared/preferences';
import { useConsole } from './console';
import classes from './frame.module.css';

const A_YEAR_SECONDS = 31_536_000;

/** Remembers a preference in a cookie, where the server finds it before it renders. */
export function savePreference(cookie: string, value: string): void {
  const secure = window.location.protocol === 'https:' ? '; secure' : '';
  document.cookie = `${cookie}=${encodeURIComponent(value)}; path=/; max-age=${A_YEAR_SECONDS}; samesite=lax${secure}`;
}

function hasPreference(cookie: string): boolean {
  return document.cookie.split('; ').some((entry) => entry.startsWith(`${cookie}=`));
}

export interface Language {
  code: string;
  /** Its own name for itself. */
  name: string;
}

/** Saves a preference and has the server render the page anew with it. */
function usePreference(cookie: string): (value: string) => void {
  const router = useRouter();
  return (value) => {
    savePreference(cookie, value);
    router.refresh();
  };
}

function browserZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone || DEFAULT_TIME_ZONE;
}

/** The first visit takes the browser's zone, once; from then on the reader's choice stands. */
export function useFirstTimeZone(): void {
  const save = usePreference(TIME_ZONE_COOKIE);
  useEffect(() => {
    if (!hasPreference(TIME_ZONE_COOKIE)) save(browserZone());
    // eslint-disable-next-line react-hooks/exhaustive-deps -- once
  }, []);
}

function ThemeChoice() {
  const words = useTranslations('frame');
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Menu.RadioGroup value={colorScheme} onChange={(value) => setColorScheme(value as MantineColorScheme)} aria-label={words('theme')}>
      {(['auto', 'light', 'dark'] as const).map((value) => (
        <Menu.RadioItem key={value} value={value}>
          {words(`themes.${value}`)}
        </Menu.RadioItem>
      ))}
    </Menu.RadioGroup>
  );
}

function LanguageChoice({ languages }: { languages: Language[] }) {
  const words = useTranslations('frame');
  const save = usePreference(LOCALE_COOKIE);
  return (
    <Menu.RadioGroup value={useLocale()} onChange={save} aria-label={words('language')}>
      {languages.map(({ code, name }) => (
        <Menu.RadioItem key={code} value={code} lang={code}>
          {name}
        </Menu.RadioItem>
      ))}
    </Menu.RadioGroup>
  );
}

/** The zones a phone needs: the one in use, the browser's and UTC. The wide screen has all of them. */
function TimeZoneChoice() {
  const words = useTranslations('frame');
  const current = useTimeZone() ?? DEFAULT_TIME_ZONE;
  const save = usePreference(TIME_ZONE_COOKIE);
  return (
    <Menu.RadioGroup value={current} onChange={save} aria-label={words('timeZone')}>
      {[...new Set([current, browserZone(), DEFAULT_TIME_ZONE])].map((zone) => (
        <Menu.RadioItem key={zone} value={zone}>
          {zone}
        </Menu.RadioItem>
      ))}
    </Menu.RadioGroup>
  );
}

export function TimeZoneSelect() {
  const words = useTranslations('frame');
  const current = useTimeZone() ?? DEFAULT_TIME_ZONE;
  const save = usePreference(TIME_ZONE_COOKIE);
  // Server and browser may know different zones: the list is made when it is first wanted.
  const [zones, setZones] = useState([current]);
  return (
    <Select
      className={`${classes.zone} ${classes.wideOnly}`}
      size="xs"
      searchable
      allowDeselect={false}
      limit={100}
      aria-label={words('timeZone')}
      nothingFoundMessage={words('noSuchZone')}
      data={[...new Set([current, ...zones])]}
      value={current}
      onChange={(zone) => {
        if (zone !== null) save(zone);
      }}
      onDropdownOpen={() => setZones([browserZone(), DEFAULT_TIME_ZONE, ...Intl.supportedValuesOf('timeZone')])}
      comboboxProps={{ width: 240, position: 'bottom-end' }}
    />
  );
}

export function ThemeMenu() {
  const words = useTranslations('frame');
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon className={classes.wideOnly} variant="subtle" color="gray" size={30} aria-label={words('theme')} title={words('theme')}>
          <IconBrightness size={18} stroke={1.75} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <ThemeChoice />
      </Menu.Dropdown>
    </Menu>
  );
}

export function LanguageMenu({ languages }: { languages: Language[] }) {
  const words = useTranslations('frame');
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon
          className={classes.wideOnly}
          variant="subtle"
          color="gray"
          size={30}
          aria-label={words('language')}
          title={words('language')}
        >
          <IconLanguage size={18} stroke={1.75} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <LanguageChoice languages={languages} />
      </Menu.Dropdown>
    </Menu>
  );
}

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
