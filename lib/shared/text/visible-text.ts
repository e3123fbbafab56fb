/** Invisible characters that change how text reads: direction overrides, zero-width, control characters except tab and line break. */
const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g;

/** Writes such characters as `\u202e`, so that foreign text cannot disguise itself. */
export const visibleText = (text: string): string =>
  text.replace(HIDDEN, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
