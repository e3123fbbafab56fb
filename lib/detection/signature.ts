/** What a built-in shape is recognised by, in the form the matcher reads. */
import type { EngineKey } from '@/lib/shared/model';
import type { CandidateCompanion } from '@/lib/shared/detection';

/** The names, columns and companions of one built-in shape. */
export interface ShapeSignature {
  key: string;
  label: string;
  family: 'outbox' | 'inbox' | 'job_queue' | 'dead_letters';
  engines: readonly EngineKey[];
  /** Schema of its usual table; null where any will do. */
  schema: string | null;
  /** What its table is called, in any case, with underscores or without. */
  names: readonly string[];
  /** What its name looks like; named groups are captured. */
  pattern: string | null;
  mustHave: readonly string[];
  mustNotHave: readonly string[];
  /** Columns only this library has, or types of its own: with all of them there is no doubt. */
  signature: readonly string[];
  /** Types that tell it apart, by column. */
  types: Readonly<Record<string, string>>;
  /** Names of tables beside it: `*` is anything, `{topic}` what was captured. */
  companions: readonly { name: string; purpose: CandidateCompanion['purpose'] }[];
  /** Column names are compared without underscores. */
  underscoreless: boolean;
  /** Parameters whose defaults the database does not hold: name and what stands for it. */
  assumed: readonly { name: string; value: string | number }[];
}
