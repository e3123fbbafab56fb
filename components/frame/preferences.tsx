import { useEffect, useState, type ComponentProps } from 'react';
import { UnstyledButton, useMantineColorScheme, type MantineColorScheme } from '@mantine/core';
import { IconBrightness, IconLanguage, IconLogout, IconUserCircle, type TablerIcon } from '@tabler/icons-react';
import { useLocale, useTimeZone, useTranslations } from 'next-intl';
import { BASE_PATH } from '@/lib/shared/base-path';
import { DEFAULT_TIME_ZONE, LOCALE_COOKIE, TIME_ZONE_COOKIE } from '@/lib/shared/preferences';
import { useConsole } from './console';
import { useGo } from './go';
import { Float, MenuItem, useFloat } from './float';
import { Select } from './controls';
import classes from './frame.module.css';

const A_YEAR_SECONDS = 31_536_000;

/** Saves a preference in a cookie, so that the server has it before it renders. */
export function savePreference(cookie: string, value: string): void {
  const secure = window.location.protocol === 'https:' ? '; secure' : '';
  document.cookie = `${cookie}=${encodeURIComponent(value)}; path=${BASE_PATH || '/'}; max-age=${A_YEAR_SECONDS}; samesite=lax${secure}`;
}

function usePreference(cookie: string): (value: string) => void {
  const { go } = useGo();
  return (value) => {
    savePreference(cookie, value);
    go((router) => router.refresh());
  };
}

const browserZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone || DEFAULT_TIME_ZONE;

/** The first visit saves the browser's zone; after that the reader's choice is kept. */
export function useFirstTimeZone(): void {
  const save = usePreference(TIME_ZONE_COOKIE);
  useEffect(() => {
    if (!document.cookie.split('; ').some((entry) => entry.startsWith(`${TIME_ZONE_COOKIE}=`))) save(browserZone());
    // eslint-disable-next-line react-hooks/exhaustive-deps -- once
  }, []);
}

interface Choice {
  key: 'theme' | 'language' | 'timeZone';
  value: string;
  options: { value: string; label: string; lang?: string }[];
  choose: (value: string) => void;
}

function useChoices(languages: PersonMenusProps['languages']): Record<Choice['key'], Choice> {
  const words = useTranslations('frame');
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const zone = useTimeZone() ?? DEFAULT_TIME_ZONE;
  return {
    theme: {
      key: 'theme',
      value: colorScheme,
      options: (['auto', 'light', 'dark'] as const).map((value) => ({ value, label: words(`themes.${value}`) })),
      choose: (value) => setColorScheme(value as MantineColorScheme),
    },
    language: {
      key: 'language',
      value: useLocale(),
      options: languages.map(({ code, name }) => ({ value: code, label: name, lang: code })),
      choose: usePreference(LOCALE_COOKIE),
    },
    // For a phone: the current zone, the browser's and UTC. A wide screen offers all.
    timeZone: {
      key: 'timeZone',
      value: zone,
      options: [...new Set([zone, browserZone(), DEFAULT_TIME_ZONE])].map((value) => ({ value, label: value })),
      choose: usePreference(TIME_ZONE_COOKIE),
    },
  };
}

function ChoiceItems({ choice: { key, value, options, choose }, close }: { choice: Choice; close: () => void }) {
  const words = useTranslations('frame');
  return (
    <div role="group" aria-label={words(key)}>
      {options.map(({ value: option, label, lang }) => (
        <MenuItem
          key={option}
          lang={lang}
          checked={option === value}
          onClick={() => {
            close();
            choose(option);
          }}
        >
          {label}
        </MenuItem>
      ))}
    </div>
  );
}

interface TopIconProps extends Omit<ComponentProps<'button'>, 'color'> {
  label: string;
  icon: TablerIcon;
  iconSize?: number;
}

export function TopIcon({ label, icon: Icon, iconSize = 18, title = label, className = '', ...props }: TopIconProps) {
  return (
    <UnstyledButton className={`${classes.icon} ${className}`} aria-label={label} title={title} {...props}>
      <Icon size={iconSize} stroke={1.75} aria-hidden />
    </UnstyledButton>
  );
}

function ChoiceMenu({ choice, icon }: { choice: Choice; icon: TablerIcon }) {
  const words = useTranslations('frame');
  const { button, float, close } = useFloat('menu');
  return (
    <>
      <TopIcon className={classes.wideOnly} label={words(choice.key)} icon={icon} {...button} />
      {float && (
        <Float {...float} label={words(choice.key)} side="end" width={160}>
          <ChoiceItems choice={choice} close={close} />
        </Float>
      )}
    </>
  );
}

export function TimeZoneSelect() {
  const words = useTranslations('frame');
  const current = useTimeZone() ?? DEFAULT_TIME_ZONE;
  const save = usePreference(TIME_ZONE_COOKIE);
  // Server and browser may know different zones: the list is made when it is about to be opened.
  const [zones, setZones] = useState([current]);
  const list = () => setZones([browserZone(), DEFAULT_TIME_ZONE, ...Intl.supportedValuesOf('timeZone')]);
  return (
    <Select
      className={`${classes.zone} ${classes.wideOnly}`}
      aria-label={words('timeZone')}
      data={[...new Set([current, ...zones])].map((zone) => ({ value: zone, label: zone }))}
      value={current}
      onChange={(event) => save(event.currentTarget.value)}
      onPointerEnter={list}
      onFocus={list}
    />
  );
}

export interface PersonMenusProps {
  languages: { code: string; name: string }[];
  onSignOut: () => void;
}

/** Theme, language and the account; on a phone its menu also has the preferences, whose own controls have no room there. */
export function PersonMenus({ languages, onSignOut }: PersonMenusProps) {
  const { account } = useConsole();
  const words = useTranslations('frame');
  const choices = useChoices(languages);
  const { button, float, close } = useFloat('menu');
  return (
    <>
      <ChoiceMenu choice={choices.theme} icon={IconBrightness} />
      <ChoiceMenu choice={choices.language} icon={IconLanguage} />
      <TopIcon
        label={words('account')}
        title={`${account.name} · ${words(`roles.${account.role}`)}`}
        icon={IconUserCircle}
        iconSize={20}
        {...button}
      />
      {float && (
        <Float {...float} label={words('account')} side="end" width={240} className={classes.account}>
          <div className={classes.menuLabel}>
            <span className={classes.accountName}>{account.name}</span>
            <span className={classes.accountRole}>{words(`roles.${account.role}`)}</span>
          </div>
          {Object.values(choices).map((choice) => (
            <div key={choice.key} className={classes.phoneOnly}>
              <div className={classes.menuLabel}>{words(choice.key)}</div>
              <ChoiceItems choice={choice} close={close} />
            </div>
          ))}
          <div>
            <MenuItem onClick={onSignOut}>
              <IconLogout size={16} aria-hidden />
              {words('signOut')}
            </MenuItem>
          </div>
        </Float>
      )}
    </>
  );
}
