/** What a shortcut needs to know of a key event. */
export interface KeyPress {
  key: string;
  code: string;
  shiftKey: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
}

/**
 * True when the press is the shortcut: `j`, `?`, `Enter`, `shift+x`, `mod+k` (⌘ on a Mac, Ctrl elsewhere).
 * With a Korean or Cyrillic layout the letter keys send letters of their own: the key's place on the board decides then.
 */
export function matchesShortcut(press: KeyPress, shortcut: string): boolean {
  const parts = shortcut.split('+');
  const key = parts.pop() ?? '';
  const wanted = (modifier: string) => parts.includes(modifier);
  if (wanted('mod') !== (press.ctrlKey || press.metaKey) || press.altKey) return false;
  if (/^[a-z]$/.test(key)) {
    if (wanted('shift') !== press.shiftKey) return false;
    const typed = press.key.toLowerCase();
    return /^[a-z]$/.test(typed) ? typed === key : press.code === `Key${key.toUpperCase()}`;
  }
  // A sign such as ? already holds its shift key; a named key such as Enter does not.
  if (key.length > 1 && wanted('shift') !== press.shiftKey) return false;
  return press.key === key;
}

/** The parts of a shortcut as they stand on the key caps: `mod+k` → `⌘ K` on a Mac, `Ctrl K` elsewhere. */
export function keyCaps(shortcut: string, mac: boolean): string[] {
  const names: Record<string, string> = {
    mod: mac ? '⌘' : 'Ctrl',
    shift: mac ? '⇧' : 'Shift',
    Enter: '↵',
    Escape: 'Esc',
    ArrowUp: '↑',
    ArrowDown: '↓',
  };
  const parts = shortcut.split('+');
  return parts.map((part) => names[part] ?? (parts.length > 1 ? part.toUpperCase() : part));
}
