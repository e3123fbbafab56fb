/**
 * What an operator saw of a row, as one opaque token: the place it was in, the row's own version (exact) and a
 * digest of what no relay changes (stable). Which of the two an operation compares is the shape's to say.
 */
export interface Version {
  place: 'main' | 'dead' | 'archive';
  exact: string;
  stable: string;
}

const LETTER = { main: 'm', dead: 'd', archive: 'a' } as const;
const PLACE: Record<string, Version['place']> = { m: 'main', d: 'dead', a: 'archive' };

export function encodeVersion(version: Version): string {
  return `${LETTER[version.place]}.${version.exact}.${version.stable}`;
}

/** null for anything this console did not make: such a row has, at the very least, not been seen as it is. */
export function decodeVersion(text: string): Version | null {
  const match = /^([mda])\.([0-9]{1,20}|[0-9a-f]{32})\.([0-9a-f]{32})$/.exec(text);
  const place = PLACE[match?.[1] ?? ''];
  return match === null || place === undefined ? null : { place, exact: match[2] ?? '', stable: match[3] ?? '' };
}
