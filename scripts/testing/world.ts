/** The running demo as the stories see it: what its demo.json says (design: `.outbox-console/demo.json`). */
import fs from 'node:fs';
import { z } from 'zod';
import { ROLES } from '@/lib/shared/permissions';

const worldSchema = z.object({
  url: z.url(),
  /** A page elsewhere that embeds cards. */
  hostUrl: z.url(),
  /** Path of the configuration file the demo's console runs with. */
  config: z.string(),
  store: z.string(),
  /** By outbox id: a login that may read and write everything. */
  databases: z.record(z.string(), z.string()),
  accounts: z.array(z.object({ email: z.string(), role: z.enum(ROLES) })),
  password: z.string(),
  token: z.string(),
  sinkUrl: z.url(),
});
export type World = z.infer<typeof worldSchema>;

/** The world that global setup started, or that E2E_WORLD names. */
export function readWorld(): World {
  const file = process.env.E2E_WORLD;
  if (!file) throw new Error('E2E_WORLD is not set: start the stories with Playwright, whose global setup sets it');
  return worldSchema.parse(JSON.parse(fs.readFileSync(file, 'utf8')));
}
