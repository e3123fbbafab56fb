import type { SeenEvent } from '@/lib/shared/changes/batches';
import type { InterventionPreview, InterventionRequest, InterventionResult } from '@/lib/shared/model';
import type { ActionResult } from '@/lib/shared/problems';

/** What the dialog asks of the server. The page passes its server actions in. */
export interface InterventionActions {
  /** What the operation would do to these events now; changes nothing. */
  preview(input: { outbox: string; operation: string; events: SeenEvent[] }): Promise<ActionResult<InterventionPreview>>;
  /** Carries it out. The same key twice is the same intervention. */
  intervene(input: { outbox: string; request: InterventionRequest; key: string }): Promise<ActionResult<InterventionResult>>;
  /** What became of the intervention with this key; null when there is no record of it. */
  check(input: { outbox: string; key: string }): Promise<ActionResult<InterventionResult | null>>;
}

/** The outbox as the dialog names it. */
export interface Subject {
  id: string;
  name: string;
}

/** One opening of the dialog: its key makes however many clicks one intervention. */
export interface Opening {
  subject: Subject;
  operation: string;
  events: SeenEvent[];
  key: string;
}
