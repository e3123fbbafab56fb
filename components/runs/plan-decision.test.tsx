import { createTheme, MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { NextIntlClientProvider } from 'next-intl';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test, vi } from 'vitest';
import messages from '@/lib/messages/en.json';
import ko from '@/lib/messages/ko.json';
import type { Role } from '@/lib/shared/permissions';
import type { ProblemInfo } from '@/lib/shared/problems';
import type { Approval, Plan } from '@/lib/shared/runs/plans';
import { ConsoleContext, type ConsoleValue } from '../frame/console';
import { ProblemPanel } from '../interventions/problem-panel';
import { PlanDecision } from './plan-decision';

type Props = Partial<{ children: string; onClick: () => void; onKeyDown: (event: object) => void }>;

const approval: Approval = {
  ...{ state: 'requested', because: ['rows'], requestedAt: '2026-01-01T00:00:00Z', until: '2026-01-01T04:00:00Z', answer: null },
  nobody: false,
};
const answered = { by: 'noa', at: '2026-01-01T01:00:00Z', reason: 'these are wanted' };

const planOf = (over: Partial<Plan> = {}): Plan => ({
  ...{ id: 'p', outbox: 'escrow', operation: 'archive', reason: 'never wanted', source: { ids: ['1', '2'] }, maker: 'mina', own: true },
  ...{ count: 2, sums: {}, withoutAmount: 2, types: [], oldestAt: null, searched: { rows: 2, complete: true }, hash: 'ab'.repeat(32) },
  ...{ warnings: {}, orderNotLooked: 0, sql: [], expectedSeconds: null, approval, state: 'open', run: null },
  ...{ createdAt: '2026-01-01T00:00:00Z', expiresAt: '2026-01-02T00:00:00Z' },
  ...over,
});

/** Its text, and what its buttons and fields do: Mantine hands their props to the theme. */
function decision(plan: Plan, role: Role = 'operator') {
  const buttons = new Map<string, Props>();
  const fields: Props[] = [];
  const theme = createTheme({
    components: {
      Button: { classNames: (_: unknown, props: Props) => (buttons.set(props.children ?? '', props), {}) },
      Input: { classNames: (_: unknown, props: Props) => (fields.push(props), {}) },
    },
  });
  const act = () => vi.fn(() => Promise.resolve({ ok: true, value: { id: 'q' } }));
  const [make, approve, refuse, start] = [act(), act(), act(), act()];
  const value = { account: { name: 'mina', role }, outboxes: [], plans: { make } } as unknown as ConsoleValue;
  const decisions = { approve, refuse, start } as unknown as Parameters<typeof PlanDecision>[0]['decisions'];
  const text = renderToStaticMarkup(
    <NextIntlClientProvider locale="en" messages={messages} timeZone="UTC">
      <MantineProvider theme={theme}>
        <QueryClientProvider client={new QueryClient()}>
          <ConsoleContext value={value}>
            <PlanDecision plan={plan} decisions={decisions} onChanged={() => Promise.resolve()} />
          </ConsoleContext>
        </QueryClientProvider>
      </MantineProvider>
    </NextIntlClientProvider>,
  ).replaceAll(/<style[^]*?<\/style>|<[^>]*>/g, '');
  return { text, buttons, fields, make, approve, refuse };
}

test('Enter in the field of an answer neither approves nor refuses', () => {
  const { buttons, fields, approve, refuse } = decision(planOf({ own: false }), 'approver');
  expect([...buttons.keys()]).toEqual(['Approve', 'Refuse']);
  const preventDefault = vi.fn();
  const [field] = fields.filter(({ onKeyDown }) => onKeyDown !== undefined);
  field?.onKeyDown?.({ key: 'Enter', shiftKey: false, nativeEvent: { isComposing: false }, preventDefault });
  expect(field).toBeDefined();
  // It breaks the line, as the browser does by itself.
  expect(preventDefault).not.toHaveBeenCalled();
  expect([approve, refuse].map(({ mock }) => mock.calls)).toEqual([[], []]);
});

test('a plan is made again by what was asked for alone', async () => {
  const plan = planOf({ approval: { ...approval, state: 'refused', answer: answered } });
  const { buttons, make } = decision(plan);
  buttons.get('Plan it again')?.onClick?.();
  await vi.waitFor(() => expect(make).toHaveBeenCalledOnce());
  const request = { operation: 'archive', reason: 'never wanted', source: { ids: ['1', '2'] } };
  expect(make.mock.calls).toEqual([[{ outbox: 'escrow', request, key: expect.any(String) }]]);
});

test('nothing is promised to who cannot plan it again', () => {
  for (const state of ['expired', 'void'] as const) {
    expect(decision(planOf({ state })).text).toContain('Plan it again');
    expect(decision(planOf({ state, count: 60 })).text).not.toContain('again');
    expect(decision(planOf({ state }), 'viewer').text).not.toContain('again');
  }
});

test('it waits for a word where its run does: not for what is left alone', () => {
  const text = (warnings: Plan['warnings']) => decision(planOf({ operation: 'requeue', approval: null, warnings })).text;
  expect(text({ wrong_state: 3 })).toContain('it goes on by itself');
  expect(text({ wrong_state: 3, may_already_be_out: 1 })).toContain('it waits for your word');
});

test('refusals of a plan have words of their own, and fields their names', () => {
  const of = (problem: Partial<ProblemInfo>, tried?: 'start' | 'answer', locale: 'en' | 'ko' = 'en') =>
    renderToStaticMarkup(
      <NextIntlClientProvider locale={locale} messages={{ en: messages, ko }[locale]} timeZone="UTC">
        <ProblemPanel problem={{ code: 'conflict', detail: '', ...problem }} outbox="escrow" of={tried} />
      </NextIntlClientProvider>,
    );
  expect(of({}, 'start')).toContain('Nothing was started.');
  expect(of({}, 'answer')).toContain('Nothing was answered');
  expect(of({})).toContain(messages.problems.conflict);
  expect(of({ code: 'timeout' }, 'start')).toContain(messages.problems.timeout);
  expect(of({ code: 'invalid', fields: { operation: 'is not offered' } }, undefined, 'ko')).toContain('조치: is not offered');
});
