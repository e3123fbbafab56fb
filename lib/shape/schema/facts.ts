/** How a built-in shape is recognised, where its facts come from, and how what is sent is shown. */
import { z } from 'zod';

/** Columns that are there, that are not, and that no other library has (`signature`); compared without regard to case. */
export const detectSchema = z.strictObject({
  mustHave: z.array(z.string().min(1)).min(1),
  mustNotHave: z.array(z.string().min(1)).default([]),
  /** Columns that only this library has: with all of them there is no doubt. */
  signature: z.array(z.string().min(1)).default([]),
  /** Types of columns that distinguish two shapes: `{ transaction_id: xid8 }`. */
  types: z.record(z.string().min(1), z.string().min(1)).default({}),
  /** Names of tables beside it that make it likelier; `{topic}` stands for what was captured, `*` for anything. */
  companions: z.array(z.string().min(1)).default([]),
  /** Table names are compared without regard to case. */
  caseless: z.boolean().optional(),
  /** Names are compared without underscores. */
  underscoreless: z.boolean().optional(),
});

/** `{ source: 'dotnetcore/CAP@v8.3', verified: source, warnings: [rewrites_whole_row] }`; words under `warnings.<code>`. */
export const factsSchema = z.strictObject({
  source: z.string().min(1).describe('Repository and commit, or package and version'),
  verified: z.enum(['ran', 'source', 'article', 'partial']),
  warnings: z.array(z.string().min(1)).default([]),
});

/** What somebody who reads such a payload has to know. Words under `warnings.<code>`. */
export const PAYLOAD_WARNINGS = ['python_pickle', 'php_serialised', 'binary_envelope', 'many_messages'] as const;

/** `{ encoding: base64 }`, `{ encoding: bytes, warn: binary_envelope }`; by the column's type when left out. */
export const payloadSchema = z.strictObject({
  encoding: z.enum(['json', 'text', 'bytes', 'base64', 'opaque']),
  warn: z.enum(PAYLOAD_WARNINGS).optional(),
});
