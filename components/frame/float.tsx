import { type ComponentProps, type KeyboardEvent, type ReactNode, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import { useFocusTrap, useMergedRef, useUncontrolled, useWindowEvent } from '@mantine/hooks';
import classes from './float.module.css';

type Side = 'start' | 'middle' | 'end';

/** Pixels between a box and its anchor, and the edge of the window. */
const SPACE_PX = 8;

/** Below its anchor, or above it where there is more room, and within the window. */
function place(box: HTMLElement, anchor: HTMLElement, side: Side): void {
  const { left, right, top, bottom, width } = anchor.getBoundingClientRect();
  const { clientWidth, clientHeight } = document.documentElement;
  const [below, above] = [clientHeight - bottom - 2 * SPACE_PX, top - 2 * SPACE_PX];
  const up = box.scrollHeight > below && above > below;
  const wanted = { start: left, middle: left + (width - box.offsetWidth) / 2, end: right - box.offsetWidth }[side];
  Object.assign(box.style, {
    left: `${Math.max(SPACE_PX, Math.min(wanted, clientWidth - box.offsetWidth - SPACE_PX))}px`,
    top: up ? 'auto' : `${bottom + SPACE_PX}px`,
    bottom: up ? `${clientHeight - top + SPACE_PX}px` : 'auto',
    maxHeight: `${up ? above : below}px`,
  });
}

/** Keeps a box beside its anchor while the page scrolls and the box grows. */
function useBeside(anchor: { readonly current: HTMLElement | null }, side: Side) {
  const box = useRef<HTMLDivElement>(null);
  const update = useCallback(() => {
    if (box.current && anchor.current) place(box.current, anchor.current, side);
  }, [anchor, side]);
  useWindowEvent('resize', update);
  useWindowEvent('scroll', update, { capture: true, passive: true });
  useLayoutEffect(() => {
    update();
    const sizes = new ResizeObserver(update);
    if (box.current) sizes.observe(box.current);
    return () => sizes.disconnect();
  }, [update]);
  return box;
}

/** For a button that opens a float: its props, and those of the float while it is open. */
export function useFloat(role: 'dialog' | 'menu' = 'dialog', { open, onOpen }: { open?: boolean; onOpen?: (open: boolean) => void } = {}) {
  const anchor = useRef<HTMLButtonElement>(null);
  const [opened, setOpened] = useUncontrolled({ value: open, defaultValue: false, onChange: onOpen });
  const close = () => setOpened(false);
  return {
    button: { ref: anchor, 'aria-haspopup': role, 'aria-expanded': opened, onClick: () => setOpened(!opened) } as const,
    float: opened ? { anchor, role, onClose: close } : null,
    close,
  };
}

interface FloatProps extends NonNullable<ReturnType<typeof useFloat>['float']> {
  label: string;
  width: number;
  side?: Side;
  className?: string;
  children: ReactNode;
}

/** A box above the page. It takes the focus, keeps it, and gives it back; Escape and a press elsewhere close it. */
export function Float({ anchor, role, label, width, side = 'start', className = '', onClose, children }: FloatProps) {
  const box = useBeside(anchor, side);
  const ref = useMergedRef(box, useFocusTrap());
  useWindowEvent('pointerdown', ({ target }) => {
    if (target instanceof Node && ![anchor, box].some(({ current }) => current?.contains(target))) onClose();
  });
  useLayoutEffect(() => {
    const [button, shown] = [anchor.current, box.current];
    return () => {
      if (shown?.contains(document.activeElement)) button?.focus({ preventScroll: true });
    };
  }, [anchor, box]);
  const key = (event: KeyboardEvent) => {
    if (event.key === 'Escape') onClose();
    const items = role === 'menu' ? [...(box.current?.querySelectorAll<HTMLElement>('[role^="menuitem"]:not(:disabled)') ?? [])] : [];
    const at = items.findIndex((item) => item === document.activeElement);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (next === undefined || items.length === 0) return;
    event.preventDefault();
    items.at(next % items.length)?.focus();
  };
  return createPortal(
    <div
      ref={ref}
      role={role}
      aria-label={label}
      tabIndex={-1}
      className={`${classes.float} ${role === 'menu' ? classes.menu : ''} ${className}`}
      style={{ width }}
      onKeyDown={key}
    >
      {children}
    </div>,
    document.body,
  );
}

interface MenuItemProps extends Pick<ComponentProps<'a'>, 'href' | 'download' | 'lang' | 'children'> {
  /** Set for one of several that exclude each other. */
  checked?: boolean;
  onClick: () => void;
}

export function MenuItem({ checked, ...props }: MenuItemProps) {
  const Item = props.href === undefined ? 'button' : 'a';
  return (
    <Item
      {...(Item === 'button' ? { type: 'button' } : {})}
      role={checked === undefined ? 'menuitem' : 'menuitemradio'}
      aria-checked={checked}
      data-autofocus={checked || undefined}
      className={classes.item}
      {...props}
    />
  );
}

/** Shows the `data-tip` of what the pointer or the focus is on. */
export function TipLayer() {
  const [of, setOf] = useState<HTMLElement | null>(null);
  const show = ({ target }: Event) => setOf(target instanceof Element ? target.closest<HTMLElement>('[data-tip]') : null);
  const hide = () => setOf(null);
  useWindowEvent('pointerover', show);
  useWindowEvent('focusin', show);
  useWindowEvent('pointerdown', hide);
  useWindowEvent('focusout', hide);
  useWindowEvent('keydown', ({ key }) => key === 'Escape' && hide());
  return of && <Tip key={of.dataset.tip} of={of} />;
}

const TIP = 'tip';

function Tip({ of }: { of: HTMLElement }) {
  const box = useBeside({ current: of }, 'middle');
  useEffect(() => {
    of.setAttribute('aria-describedby', TIP);
    return () => of.removeAttribute('aria-describedby');
  }, [of]);
  return createPortal(
    <div ref={box} id={TIP} role="tooltip" className={classes.tip}>
      {of.dataset.tip}
    </div>,
    document.body,
  );
}
