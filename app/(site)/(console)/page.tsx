import { FleetScreen } from '@/components/fleet/fleet-screen';
import { definePage, titled } from '@/lib/server/page';
import { readFleet } from '@/lib/server/reads/figures';
import { can } from '@/lib/shared/permissions';
import { fleetSnapshot } from './actions';

export const generateMetadata = titled((words) => words('fleet.title'));

export default definePage({
  id: 'page.fleet',
  permission: 'outbox:read',
  render: async (context) => (
    <FleetScreen
      initial={await readFleet(context, true)}
      action={fleetSnapshot}
      findHref={can(context.actor.role, 'account:manage') ? '/detect' : null}
    />
  ),
});
