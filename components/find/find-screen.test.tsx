/** The lines of a key's timeline keep their places while others come and go, until somebody asks for all. */
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider, useQueryClient } from '@tanstack/react-query';
import { NextIntlClientProvider } from 'next-intl';
import { Children, isValidElement, type ReactElement, type ReactNode, useState } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import messages from '@/lib/messages/en.json';
import type { Found, FoundEvent } from '@/lib/shared/lists/found';
import { ConsoleContext, type ConsoleValue } from '../frame/console';
import { LiveProvider } from '../frame/live';
import { LatestButton } from '../lists/steady-rows';
import { FoundKey } from './find-screen';

const NO_TIMES = { createdAt: null, lastAttemptAt: null, diedAt: null, publishedAt: null };
const event = (id: string, times: Partial<typeof NO_TIMES> | Record<string, string>) =>
  ({ id, type: id, attempts: 1, fate: 'waiting', ...NO_TIMES, ...times }) as unknown as FoundEvent;
const reading = (second: number, ...events: FoundEvent[]): Found => ({
  asOf: `2026-01-01T01:00:0${String(second)}Z`,
  key: 'order-7',
  fate: 'waiting',
  outboxes: [{ outbox: 'escrow', events, searched: null, more: false, why: null }],
});

const old = event('old', { createdAt: '2026-01-01T00:01:00Z' });
const deleted = event('deleted', { createdAt: '2026-01-01T00:02:00Z', publishedAt: '2026-01-01T00:04:00Z' });
const found = event('found', { createdAt: '2026-01-01T00:03:00Z' });
const FIRST = reading(1, old, deleted);
const SECOND = reading(2, old, found);

/** The element of this type within a tree that is not rendered yet. */
function within<P>(node: ReactNode, type: (props: P) => ReactNode): ReactElement<P> | undefined {
  return Children.toArray(node)
    .filter(isValidElement<{ children?: ReactNode }>)
    .map((element) => (element.type === type ? (element as unknown as ReactElement<P>) : within(element.props.children, type)))
    .find((element) => element !== undefined);
}

const useFoundKey = FoundKey;

/** Reads once more, and presses the button for what is newer, as its screen does between two renders. */
function Read({ press }: { press: boolean }) {
  const queries = useQueryClient();
  const [step, setStep] = useState(0);
  const shown = useFoundKey({ initial: FIRST, load: () => Promise.reject(new Error('nothing is asked')) });
  if (step === 0) queries.setQueryData(['find', FIRST.key], SECOND);
  if (step === 1 && press) within(shown, LatestButton)?.props.onShow();
  if (step < 2) setStep(step + 1);
  return shown;
}

/** The lines as text, those that are marked as gone in brackets, and the text of the button. */
function timeline(screen: ReactNode): { lines: string[]; button: string | undefined } {
  const html = renderToStaticMarkup(
    <QueryClientProvider client={new QueryClient()}>
      <NextIntlClientProvider locale="en" messages={messages} timeZone="UTC">
        <MantineProvider>
          <ConsoleContext value={{ outboxes: [] } as unknown as ConsoleValue}>
            <LiveProvider>{screen}</LiveProvider>
          </ConsoleContext>
        </MantineProvider>
      </NextIntlClientProvider>
    </QueryClientProvider>,
  );
  const text = (markup: string) => markup.replace(/<[^>]*>/g, '');
  const lines = [...html.matchAll(/<li data-kind="(\w+)"( data-gone="true")?>.*?<bdi>(\w+)<\/bdi>/g)];
  return {
    lines: lines.map(([, kind, gone, id]) => (gone === undefined ? `${id} ${kind}` : `[${id} ${kind}]`)),
    button: /<span role="status">(.*?)<\/span><\/div>/.exec(html)?.slice(1).map(text)[0],
  };
}

test('a line that is found later and one that went do not move those that are there', () => {
  expect(timeline(<FoundKey initial={FIRST} load={() => Promise.reject(new Error('nothing is asked'))} />)).toEqual({
    lines: ['deleted published', 'deleted created', 'old created'],
    button: '',
  });
  expect(timeline(<Read press={false} />)).toEqual({
    lines: ['[deleted published]', '[deleted created]', 'old created'],
    button: '2 lines are new or changed: show them',
  });
});

test('who asks for them is shown all, in their order', () => {
  expect(timeline(<Read press />)).toEqual({ lines: ['found created', 'old created'], button: '' });
});
