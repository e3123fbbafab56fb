import { DoctorScreen } from '@/components/doctor/doctor-screen';
import { definePage, titled } from '@/lib/server/page';
import { readDoctor } from '@/lib/server/reads/doctor';
import { SEVERITIES } from '@/lib/shared/doctor';
import { can } from '@/lib/shared/permissions';
import { doctorSnapshot, examine, lift, silence } from '../actions';

export const generateMetadata = titled((words) => words('doctor.title'));

export default definePage({
  id: 'page.doctor',
  permission: 'outbox:read',
  render: async (context, { search }) => {
    const outbox = search.get('outbox') ?? undefined;
    return (
      <DoctorScreen
        key={outbox ?? ''}
        outbox={outbox}
        severity={SEVERITIES.find((one) => one === search.get('severity'))}
        initial={await readDoctor(context, outbox)}
        load={doctorSnapshot}
        examine={examine}
        silence={can(context.actor.role, 'doctor:silence') ? { put: silence, lift } : null}
      />
    );
  },
});
