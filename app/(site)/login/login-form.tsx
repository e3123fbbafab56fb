'use client';

import { Alert, Button, Paper, PasswordInput, TextInput, Title } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { useState, type FormEvent } from 'react';
import { BASE_PATH } from '@/lib/shared/base-path';
import { sendAuthForm } from '../auth-form';
import classes from './login.module.css';

type Failure = 'wrong' | 'too_many' | 'disabled' | 'unavailable' | 'unreachable';

/** The failure texts for next-auth's error codes. */
const FAILURES: Record<string, Failure> = {
  CredentialsSignin: 'wrong',
  too_many: 'too_many',
  disabled: 'disabled',
};

async function attempt(form: FormData): Promise<Failure | null> {
  try {
    const email = String(form.get('email') ?? '');
    const answer = await sendAuthForm('callback/credentials', { email, password: String(form.get('password') ?? '') });
    if (answer === null) return 'unavailable';
    const { url } = (await answer.json()) as { url: string };
    const error = new URL(url).searchParams.get('error');
    return answer.ok && error === null ? null : (FAILURES[error ?? ''] ?? 'unavailable');
  } catch {
    return 'unreachable';
  }
}

export function LoginForm({ callbackUrl }: { callbackUrl: string }) {
  const words = useTranslations('login');
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);

  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    const found = await attempt(new FormData(event.currentTarget));
    setFailure(found);
    // Stays busy until the new page has loaded: a second click would sign in again.
    if (found === null) window.location.assign(BASE_PATH + callbackUrl);
    else setBusy(false);
  };

  return (
    <main className={classes.page}>
      <Paper withBorder radius="md" className={classes.card}>
        <form method="post" onSubmit={(event) => void submit(event)}>
          <div>
            <Title order={1}>{words('title')}</Title>
            <p>{words('hint')}</p>
          </div>
          {failure !== null && (
            <Alert color="red" icon={<IconAlertTriangle size={18} aria-hidden />}>
              {words(`errors.${failure}`)}
            </Alert>
          )}
          <TextInput
            name="email"
            type="email"
            label={words('email')}
            autoComplete="username"
            autoCapitalize="none"
            spellCheck={false}
            autoFocus
            required
            withAsterisk={false}
          />
          <PasswordInput
            name="password"
            label={words('password')}
            autoComplete="current-password"
            visibilityToggleButtonProps={{ 'aria-label': words('showPassword') }}
            required
            withAsterisk={false}
          />
          <Button type="submit" loading={busy} fullWidth>
            {words('submit')}
          </Button>
        </form>
      </Paper>
    </main>
  );
}
