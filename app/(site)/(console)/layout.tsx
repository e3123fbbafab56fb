import { cookies } from 'next/headers';
import { NextIntlClientProvider } from 'next-intl';
import { getMessages } from 'next-intl/server';
import { Frame } from '@/components/shell/frame';
import { PaletteButton } from '@/components/palette/palette-button';
import { OFFERED_LANGUAGES } from '@/lib/server/language';
import { defineLayout } from '@/lib/server/page';
import { isChangeable } from '@/lib/server/reads/outboxes';
import { RAIL_COOKIE } from '@/lib/shared/preferences';
import { signOut } from '../sign-out';
import { checkIntervention, findSnapshot, followIntervention, intervene, previewIntervention } from './actions';
import { approvalsSnapshot, makePlan } from './actions-runs';

export default defineLayout({
  id: 'layout.console',
  permission: 'outbox:read',
  render: async ({ console, actor }, children) => {
    const jar = await cookies();
    // Every document has them: not what stands in cards or at sign-in alone, or on a page that has words of its own.
    const { cards: _cards, detect: _detect, login: _login, proof: _proof, ...words } = await getMessages();
    const { directory } = console;
    return (
      <NextIntlClientProvider messages={words}>
        <Frame
          console={{
            account: { name: actor.name, role: actor.role },
            outboxes: directory.ids.map((id) => ({ id, name: directory.settings(id).name })),
            changeable: directory.ids.filter((id) => isChangeable(console, id)),
            interventions: { preview: previewIntervention, intervene, check: checkIntervention, follow: followIntervention },
            plans: { make: makePlan, approvals: approvalsSnapshot },
          }}
          languages={OFFERED_LANGUAGES}
          railCollapsed={jar.get(RAIL_COOKIE)?.value === 'icons'}
          serverNow={Date.now()}
          signOut={signOut}
          palette={<PaletteButton find={findSnapshot} />}
        >
          {children}
        </Frame>
      </NextIntlClientProvider>
    );
  },
});
