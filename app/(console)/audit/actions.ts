'use server';

import { z } from 'zod';
import { defineAction } from '@/lib/server/action';
import { readAuditPage } from './read';

/** A page of the audit. */
export const auditSnapshot = defineAction({
  id: 'audit.snapshot',
  permission: 'audit:read',
  input: z.strictObject({ query: z.string().max(4_000) }),
  run: (context, { query }) => readAuditPage(context, query),
});
