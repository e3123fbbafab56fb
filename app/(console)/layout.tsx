import { cookies } from 'next/headers';
import { Frame } from '@/components/frame/frame';
import { PaletteButton } from '@/components/palette/palette-button';
import { offeredLanguages } from '@/lib/server/language';
import { defineLayout } from '@/lib/server/page';
import { isChangeable } from '@/lib/server/reads/outboxes';
import { can } from '@/lib/shared/permissions';
import { RAIL_COOKIE } from '@/lib/shared/preferences';
import { signOut } from '../sign-out';
import { findEvent } from './find-event-action';

export default defineLayout({
  id: 'layout.console',
  permission: 'outbox:read',
  render: async ({ console, actor }, children) => {
    const jar = await cookies();
    const { directory } = console;
    const outboxes = directory.ids.map((id) => ({
      id,
      name: directory.settings(id).name,
      changeable: isChangeable(console, id),
    }));
    return (
      <Frame
        account={{ name: actor.name, role: actor.role }}
        outboxes={outboxes}
        languages={offeredLanguages()}
        railCollapsed={jar.get(RAIL_COOKIE)?.value === 'icons'}
        serverNow={Date.now()}
        signOut={signOut}
        palette={<PaletteButton outboxes={outboxes} mayDetect={can(actor.role, 'account:manage')} findEvent={findEvent} />}
      >
        {children}
      </Frame>
    );
  },
});
