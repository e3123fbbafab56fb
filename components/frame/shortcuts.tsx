import { createSafeContext } from '@mantine/core';
import { useWindowEvent } from '@mantine/hooks';
import { createContext, type ReactNode, useCallback, useContext, useLayoutEffect, useMemo, useRef, useState } from 'react';

export type KeyPress = Pick<KeyboardEvent, 'key' | 'code' | 'shiftKey' | 'ctrlKey' | 'metaKey' | 'altKey'>;

/** `j`, `?`, `Enter`, `shift+x`, `mod+k` (⌘ on a Mac, Ctrl elsewhere); on layouts without Latin letters the key's position decides. */
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
  // A character such as ? already includes its shift key; a named key such as Enter does not.
  if (key.length > 1 && wanted('shift') !== press.shiftKey) return false;
  return press.key === key;
}

/** The parts of a shortcut as printed on keys: `mod+k` → `⌘ K` on a Mac, `Ctrl K` elsewhere. */
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

interface Shortcut {
  /** `j`, `?`, `Enter`, `shift+x`, `mod+k`. */
  keys: string;
  label: string;
  /** Left out if the browser does it already, such as Enter on a link: the key is then only listed. */
  run?: (event: KeyboardEvent) => void;
}

/** Binds keys; the function it returns unbinds them. */
type Register = (shortcuts: Shortcut[]) => () => void;

const [RegisterContext, useRegister] = createSafeContext<Register>('useShortcuts needs a ShortcutProvider above it');
const ListContext = createContext<Shortcut[]>([]);

/** Typed text is never a shortcut, an open dialog or menu gets its own keys, and Enter on a link is for the link. */
function isElsewhere({ target, key }: KeyboardEvent): boolean {
  if (!(target instanceof Element)) return false;
  if (key === 'Enter' && target.closest('a, button, summary') !== null) return true;
  return (
    target.closest(
      'input:not([type="checkbox"]):not([type="radio"]), textarea, select, [contenteditable], [role="dialog"], [role="menu"], [role="listbox"]',
    ) !== null
  );
}

/** Listens for keys once for the whole console, and knows the shortcuts of the current screen. */
export function ShortcutProvider({ children }: { children: ReactNode }) {
  const [lists, setLists] = useState<readonly Shortcut[][]>([]);
  const active = useMemo(() => lists.flat(), [lists]);
  // A key that is pressed as soon as its button is seen comes before the next render.
  const bound = useRef<readonly Shortcut[][]>([]);
  const register = useCallback<Register>((shortcuts) => {
    const keep = (next: readonly Shortcut[][]): void => setLists((bound.current = next));
    keep([...bound.current, shortcuts]);
    return () => keep(bound.current.filter((list) => list !== shortcuts));
  }, []);

  useWindowEvent('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    const elsewhere = isElsewhere(event);
    const shortcut = bound.current
      .flat()
      .find(({ keys, run }) => run && matchesShortcut(event, keys) && (!elsewhere || keys.startsWith('mod+')));
    if (!shortcut?.run) return;
    event.preventDefault();
    shortcut.run(event);
  });

  return (
    <RegisterContext value={register}>
      <ListContext value={active}>{children}</ListContext>
    </RegisterContext>
  );
}

/** Binds keys while the calling component is on screen; bound again only if keys or labels change, not handlers. */
export function useShortcuts(shortcuts: Shortcut[]): void {
  const register = useRegister();
  const latest = useRef(shortcuts);
  useLayoutEffect(() => {
    latest.current = shortcuts;
  });
  const shape = JSON.stringify(shortcuts.map(({ keys, label, run: bound }) => [keys, label, bound !== undefined]));
  useLayoutEffect(() => {
    const entries = JSON.parse(shape) as [string, string, boolean][];
    const run = (keys: string) => (event: KeyboardEvent) => latest.current.find((shortcut) => shortcut.keys === keys)?.run?.(event);
    return register(entries.map(([keys, label, bound]) => ({ keys, label, run: bound ? run(keys) : undefined })));
  }, [register, shape]);
}

export const useActiveShortcuts = (): Shortcut[] => useContext(ListContext);
