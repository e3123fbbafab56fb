import { isState, type EventState } from '@/lib/shared/states';

/**
 * What an operator saw of a row, as one opaque token: its place and state, the row's own version (exact), a digest of what no relay changes
 * (stable), and how often it was operated on (touched). The shape says whether an operation compares exact or stable.
 */
export interface Version {
  place: 'main' | 'dead' | 'archive';
  state: EventState;
  exact: string;
  stable: string;
  /** null if not counted: no operation takes such a row, or the records cannot be read. */
  touched: number | null;
}

const LETTER = { main: 'm', dead: 'd', archive: 'a' } as const;
const PLACE: Record<string, Version['place']> = { m: 'main', d: 'dead', a: 'archive' };

export const encodeVersion = ({ place, state, exact, stable, touched }: Version): string =>
  [LETTER[place], state, exact, stable, touched ?? '-'].join('.');

/** null for a text this console did not make: no row can have been seen with it. */
export function decodeVersion(text: string): Version | null {
  const [, letter = '', state, exact = '', stable = '', touched = ''] =
    /^([mda])\.([a-z]{1,20})\.([0-9]{1,20}|[0-9a-f]{32})\.([0-9a-f]{32})\.(-|0|[1-9][0-9]{0,14})$/.exec(text) ?? [];
  const place = PLACE[letter];
  if (place === undefined || !(isState(state) || state === 'unmapped')) return null;
  return { place, state, exact, stable, touched: touched === '-' ? null : Number(touched) };
}
