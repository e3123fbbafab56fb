'use server';

import { z } from 'zod';
import { defineAction } from '@/lib/server/action';
import { readExamination } from '@/lib/server/reads/detection';
import { LIVE_STATES } from '@/lib/shared/states';

const name = z.string().min(1).max(128);

/** A candidate closely, its status words as far as they were said. Admins only: it reads tables nobody has configured. */
export const examineCandidate = defineAction({
  id: 'detect.examine',
  permission: 'account:manage',
  input: z.strictObject({
    database: name,
    schema: name,
    table: name,
    confirmed: z.record(z.string().max(200), z.enum(LIVE_STATES).nullable()).refine((words) => Object.keys(words).length <= 100),
  }),
  run: (context, { database, schema, table, confirmed }) => readExamination(context, database, { schema, table }, confirmed),
});
