/** How to show what is sent. It is never deserialised: what cannot be read is shown as bytes. */
import { z } from 'zod';

/** `{ encoding: base64 }`, `{ encoding: bytes, warn: binary_envelope }`; by the column's type when left out. */
export const payloadSchema = z.strictObject({
  encoding: z.enum(['json', 'text', 'bytes', 'base64', 'opaque']),
  /** Words under `warnings.<code>`. */
  warn: z.enum(['python_pickle', 'php_serialised', 'binary_envelope', 'many_messages']).optional(),
});
