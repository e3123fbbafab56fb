'use client';

import { Button } from '@mantine/core';
import { useWindowEvent } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { lazy, Suspense, useRef, useState } from 'react';
import { useShortcuts } from '../frame/shortcuts';
import type { PaletteProps } from './palette';
import classes from './palette.module.css';

const load = () => import('./palette');
const Palette = lazy(async () => ({ default: (await load()).Palette }));

/** By then the box has the focus; a key pressed later is not meant for it. */
const CAPTURE_MS = 5_000;

export function PaletteButton(props: Pick<PaletteProps, 'find'>) {
  const t = useTranslations('palette');
  const [wanted, setWanted] = useState(false);
  const [text, setText] = useState('');
  const [entered, setEntered] = useState(false);
  const isOpen = useRef(false);
  const stopCapture = useRef<(() => void) | null>(null);

  // Loaded when it is likely to be used: the pointer comes near, or the first key of ⌘K goes down.
  useWindowEvent('keydown', ({ key }) => {
    if (key === 'Meta' || key === 'Control') void load().catch(() => undefined);
  });

  const open = async () => {
    stopCapture.current?.();
    // It clears its text only once it is fully closed; reopened before that, it must not keep the last text.
    if (!isOpen.current) setText('');
    isOpen.current = true;
    const stop = captureTyping({ onCharacter: (character) => setText((before) => before + character), onEnter: () => setEntered(true) });
    stopCapture.current = stop;
    setTimeout(stop, CAPTURE_MS);
    try {
      const loaded = await load();
      setWanted(true);
      loaded.palette.open();
    } catch {
      // The script failed to load; keys go back to the screen.
      stop();
      isOpen.current = false;
    }
  };
  useShortcuts([{ keys: 'mod+k', label: t('label'), run: () => void open() }]);

  return (
    <>
      <Button
        variant="default"
        size="xs"
        className={classes.button}
        leftSection={<IconSearch size={14} aria-hidden />}
        onPointerEnter={() => void load().catch(() => undefined)}
        onClick={() => void open()}
        aria-label={t('label')}
        aria-keyshortcuts="Meta+K Control+K"
      >
        <span className={classes.word}>{t('open')}</span>
        <kbd className={classes.keys} aria-hidden>
          ⌘K
        </kbd>
      </Button>
      {wanted && (
        <Suspense fallback={null}>
          <Palette
            {...props}
            text={text}
            onText={(next) => {
              setText(next);
              setEntered(false);
            }}
            entered={entered}
            onEntered={setEntered}
            onClose={() => (isOpen.current = false)}
          />
        </Suspense>
      )}
    </>
  );
}

/** Until the palette's box has the focus, typed keys are collected for it: on the screen below, "a" would archive. */
function captureTyping({ onCharacter, onEnter }: { onCharacter: (character: string) => void; onEnter: () => void }): () => void {
  const stop = () => document.removeEventListener('keydown', listen, true);
  const listen = (event: KeyboardEvent) => {
    const modified = event.ctrlKey || event.metaKey || event.altKey;
    const inBox = event.target instanceof HTMLInputElement && event.target.closest('[role="dialog"]') !== null;
    if (inBox || event.key === 'Escape') return stop();
    if (modified || (event.key.length !== 1 && event.key !== 'Enter')) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (event.key === 'Enter') onEnter();
    else onCharacter(event.key);
  };
  document.addEventListener('keydown', listen, true);
  return stop;
}
