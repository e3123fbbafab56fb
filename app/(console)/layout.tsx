import { cookies } from 'next/headers';
import { Frame } from '@/components/frame/frame';
import { offeredLanguages } from '@/lib/server/language';
import { defineLayout } from '@/lib/server/page';
import { RAIL_COOKIE } from '@/lib/shared/preferences';
import { signOut } from '../sign-out';

export default defineLayout({
  id: 'layout.console',
  permission: 'outbox:read',
  render: async ({ console, actor }, children) => {
    const jar = await cookies();
    return (
      <Frame
        account={{ name: actor.name, role: actor.role }}
        outboxes={console.directory.ids.map((id) => ({ id, name: console.directory.settings(id).name }))}
        languages={offeredLanguages()}
        railCollapsed={jar.get(RAIL_COOKIE)?.value === 'icons'}
        serverNow={Date.now()}
        signOut={signOut}
      >
        {children}
      </Frame>
    );
  },
});
