import type { z } from 'zod';
import type { Context } from '@/lib/server/context';
import { changeRun } from '@/lib/server/reads/runs';
import { ofRun } from '@/lib/server/schemas';

/** What a route does by which a run is changed, where its name says all. */
export const deedOfRun = (deed: 'pause' | 'resume' | 'cancel') => ({
  params: ofRun,
  attempted: () => ({ operation: deed }),
  run: (context: Context, { params }: { params: z.infer<typeof ofRun> }) => changeRun(context, params.run, deed),
});
