import type { Metadata } from 'next';
import { getTranslations } from 'next-intl/server';
import { DoctorScreen } from '@/components/doctor/doctor-screen';
import { definePage } from '@/lib/server/page';
import { readDoctor } from '@/lib/server/reads/doctor';
import { SEVERITIES } from '@/lib/shared/doctor';
import { toSearchParams } from '@/lib/shared/lists/event-filter';
import { can } from '@/lib/shared/permissions';
import { doctorSnapshot, examine, lift, silence } from './actions';

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations('doctor'))('title') };
}

export default definePage({
  id: 'page.doctor',
  permission: 'outbox:read',
  render: async (context, { searchParams }) => {
    const search = toSearchParams(searchParams);
    const { directory } = context.console;
    const outbox = search.get('outbox') ?? undefined;
    return (
      <DoctorScreen
        key={outbox ?? ''}
        outbox={outbox}
        severity={SEVERITIES.find((one) => one === search.get('severity'))}
        outboxes={directory.ids.map((id) => ({ id, name: directory.settings(id).name }))}
        initial={await readDoctor(context, outbox)}
        load={doctorSnapshot}
        examine={examine}
        silence={can(context.actor.role, 'doctor:silence') ? { put: silence, lift } : null}
      />
    );
  },
});
