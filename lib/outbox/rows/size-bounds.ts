/** Values up to this size are read without being asked for: of a list's rows, and on an event's own page. In bytes. */
export const READ_BYTES = 262_144;
/** Up to this size the content of one event is read for whoever asks for it; beyond it never. In bytes. */
export const READ_ON_REQUEST_BYTES = 4_194_304;
