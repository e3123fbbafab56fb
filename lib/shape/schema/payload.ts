/** How to show what is sent. It is never deserialised: what cannot be read is shown as bytes. */
import { z } from 'zod';

/** What somebody who reads such a payload has to know. Words under `warnings.<code>`. */
export const PAYLOAD_WARNINGS = ['python_pickle', 'php_serialised', 'binary_envelope', 'many_messages'] as const;

/** `{ encoding: base64 }`, `{ encoding: bytes, warn: binary_envelope }`; by the column's type when left out. */
export const payloadSchema = z.strictObject({
  encoding: z.enum(['json', 'text', 'bytes', 'base64', 'opaque']),
  warn: z.enum(PAYLOAD_WARNINGS).optional(),
});
