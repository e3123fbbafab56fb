import { defineRoute } from '@/lib/server/route';
import { answerToPlan } from '../answer';

export const POST = defineRoute({ id: 'api.plan-approve', permission: 'plan:approve', ...answerToPlan('approve') });
