import { Fragment, useEffect, useState, type ComponentProps, type ComponentType } from 'react';
import { useRouter } from 'next/navigation';
import { ActionIcon, Menu, Select, useMantineColorScheme, type MantineColorScheme } from '@mantine/core';
import { IconBrightness, IconLanguage, IconLogout, IconUserCircle, type IconProps } from '@tabler/icons-react';
import { useLocale, useTimeZone, useTranslations } from 'next-intl';
import { DEFAULT_TIME_ZONE, LOCALE_COOKIE, TIME_ZONE_COOKIE } from '@/lib/shared/preferences';
import { useConsole } from './console';
import classes from './frame.module.css';

const A_YEAR_SECONDS = 31_536_000;

/** Saves a preference in a cookie, so that the server has it before it renders. */
export function savePreference(cookie: string, value: string): void {
  const secure = window.location.protocol === 'https:' ? '; secure' : '';
  document.cookie = `${cookie}=${encodeURIComponent(value)}; path=/; max-age=${A_YEAR_SECONDS}; samesite=lax${secure}`;
}

function usePreference(cookie: string): (value: string) => void {
  const router = useRouter();
  return (value) => {
    savePreference(cookie, value);
    router.refresh();
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

function ChoiceItems({ choice: { key, value, options, choose } }: { choice: Choice }) {
  const words = useTranslations('frame');
  return (
    <Menu.RadioGroup value={value} onChange={choose} aria-label={words(key)}>
      {options.map(({ label, ...option }) => (
        <Menu.RadioItem key={option.value} {...option}>
          {label}
        </Menu.RadioItem>
      ))}
    </Menu.RadioGroup>
  );
}

interface TopIconProps extends Omit<ComponentProps<'button'>, 'color'> {
  label: string;
  icon: ComponentType<IconProps>;
  iconSize?: number;
}

export function TopIcon({ label, icon: Icon, iconSize = 18, title = label, ...props }: TopIconProps) {
  return (
    <ActionIcon variant="subtle" color="gray" size={30} aria-label={label} title={title} {...props}>
      <Icon size={iconSize} stroke={1.75} aria-hidden />
    </ActionIcon>
  );
}

function ChoiceMenu({ choice, icon }: { choice: Choice; icon: ComponentType<IconProps> }) {
  const words = useTranslations('frame');
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <TopIcon className={classes.wideOnly} label={words(choice.key)} icon={icon} />
      </Menu.Target>
      <Menu.Dropdown>
        <ChoiceItems choice={choice} />
      </Menu.Dropdown>
    </Menu>
  );
}

export function TimeZoneSelect() {
  const words = useTranslations('frame');
  const current = useTimeZone() ?? DEFAULT_TIME_ZONE;
  const save = usePreference(TIME_ZONE_COOKIE);
  // Server and browser may know different zones: the list is made when it is first opened.
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

export interface PersonMenusProps {
  languages: { code: string; name: string }[];
  signOut: () => Promise<void>;
}

/** Theme, language and the account; on a phone its menu also has the preferences, whose own controls have no room there. */
export function PersonMenus({ languages, signOut }: PersonMenusProps) {
  const { account } = useConsole();
  const words = useTranslations('frame');
  const choices = useChoices(languages);
  return (
    <>
      <ChoiceMenu choice={choices.theme} icon={IconBrightness} />
      <ChoiceMenu choice={choices.language} icon={IconLanguage} />
      <Menu position="bottom-end" width={240}>
        <Menu.Target>
          <TopIcon
            label={words('account')}
            title={`${account.name} · ${words(`roles.${account.role}`)}`}
            icon={IconUserCircle}
            iconSize={20}
          />
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>
            <span className={classes.accountName}>{account.name}</span>
            <span className={classes.accountRole}>{words(`roles.${account.role}`)}</span>
          </Menu.Label>
          <div className={classes.phoneOnly}>
            {Object.values(choices).map((choice) => (
              <Fragment key={choice.key}>
                <Menu.Divider />
                <Menu.Label>{words(choice.key)}</Menu.Label>
                <ChoiceItems choice={choice} />
              </Fragment>
            ))}
          </div>
          <Menu.Divider />
          <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={() => void signOut()}>
            {words('signOut')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  );
}
