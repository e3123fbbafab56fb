'use server';

import { z } from 'zod';
import { defineAction } from '@/lib/server/action';
import { readFleet } from '@/lib/server/reads/figures';

/** Every outbox with its figures, at most 5 s old. */
export const fleetSnapshot = defineAction({
  id: 'fleet.snapshot',
  permission: 'outbox:read',
  input: z.strictObject({}),
  run: (context) => readFleet(context),
});
