import { defineRoute } from '@/lib/server/route';
import { answerToPlan } from '../answer';

export const POST = defineRoute({ id: 'api.plan-refuse', permission: 'plan:approve', ...answerToPlan('refuse') });
