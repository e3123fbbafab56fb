import { createContext, useCallback, useContext, useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { matchesShortcut } from './shortcut-match';

interface Shortcut {
  /** `j`, `?`, `Enter`, `shift+x`, `mod+k`. */
  keys: string;
  /** What it does, from the catalogue. */
  label: string;
  /** Left out when the browser already does it, such as Enter on a link: the key is then only listed. */
  run?: (event: KeyboardEvent) => void;
}

interface ShortcutRegistry {
  register: (id: symbol, shortcuts: Shortcut[]) => void;
  forget: (id: symbol) => void;
}

const RegistryContext = createContext<ShortcutRegistry | null>(null);
const ListContext = createContext<Shortcut[]>([]);

/** Typing is never taken for a command, an open dialog or menu keeps its keys to itself, and Enter on a link is the link's. */
function isElsewhere({ target, key }: KeyboardEvent): boolean {
  if (!(target instanceof Element)) return false;
  if (key === 'Enter' && target.closest('a, button, summary') !== null) return true;
  return (
    target.closest(
      'input:not([type="checkbox"]):not([type="radio"]), textarea, select, [contenteditable], [role="dialog"], [role="menu"], [role="listbox"]',
    ) !== null
  );
}

/** Listens for keys once for the whole console and knows which of them mean something on the screen in view. */
export function ShortcutProvider({ children }: { children: ReactNode }) {
  const [lists, setLists] = useState<ReadonlyMap<symbol, Shortcut[]>>(new Map());
  const active = useMemo(() => [...lists.values()].flat(), [lists]);
  const registry = useMemo<ShortcutRegistry>(
    () => ({
      register: (id, shortcuts) => setLists((before) => new Map(before).set(id, shortcuts)),
      forget: (id) =>
        setLists((before) => {
          const after = new Map(before);
          after.delete(id);
          return after;
        }),
    }),
    [],
  );

  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing) return;
      const elsewhere = isElsewhere(event);
      const shortcut = active.find(({ keys, run }) => run && matchesShortcut(event, keys) && (!elsewhere || keys.startsWith('mod+')));
      if (!shortcut?.run) return;
      event.preventDefault();
      shortcut.run(event);
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, [active]);

  return (
    <RegistryContext value={registry}>
      <ListContext value={active}>{children}</ListContext>
    </RegistryContext>
  );
}

/**
 * Binds keys while the calling component is on screen and lists them under `?`. The handlers may be new on every
 * render; the list is registered again only when its keys or labels change.
 */
export function useShortcuts(shortcuts: Shortcut[]): void {
  const registry = useContext(RegistryContext);
  if (!registry) throw new Error('useShortcuts needs a ShortcutProvider above it');
  const [id] = useState(() => Symbol('shortcuts'));
  const latest = useRef(shortcuts);
  useEffect(() => {
    latest.current = shortcuts;
  });
  const run = useCallback(
    (keys: string, event: KeyboardEvent) => latest.current.find((shortcut) => shortcut.keys === keys)?.run?.(event),
    [],
  );
  const shape = JSON.stringify(shortcuts.map(({ keys, label, run: bound }) => [keys, label, bound !== undefined]));
  useEffect(() => {
    const entries = JSON.parse(shape) as [string, string, boolean][];
    registry.register(
      id,
      entries.map(([keys, label, bound]) => ({ keys, label, run: bound ? (event) => run(keys, event) : undefined })),
    );
    return () => registry.forget(id);
  }, [registry, id, run, shape]);
}

/** Every shortcut of the screen in view, for the list under `?`. */
export function useActiveShortcuts(): Shortcut[] {
  return useContext(ListContext);
}
