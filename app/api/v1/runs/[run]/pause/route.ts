import { defineRoute } from '@/lib/server/route';
import { deedOfRun } from '../deed';

export const POST = defineRoute({ id: 'api.run.pause', permission: 'event:operate', ...deedOfRun('pause') });
