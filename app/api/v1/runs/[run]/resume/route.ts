import { defineRoute } from '@/lib/server/route';
import { deedOfRun } from '../deed';

export const POST = defineRoute({ id: 'api.run.resume', permission: 'event:operate', ...deedOfRun('resume') });
