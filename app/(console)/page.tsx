import type { Metadata } from 'next';
import { getTranslations } from 'next-intl/server';
import { FleetScreen } from '@/components/fleet/fleet-screen';
import { definePage } from '@/lib/server/page';
import { fleetSnapshot } from './actions';

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations('fleet'))('title') };
}

export default definePage({
  id: 'page.fleet',
  permission: 'outbox:read',
  render: async ({ console }) => <FleetScreen initial={await console.snapshots.fleet()} action={fleetSnapshot} />,
});
