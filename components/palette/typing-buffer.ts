interface Typing {
  onCharacter: (character: string) => void;
  onEnter: () => void;
}

/**
 * Until the palette's box has the focus, what is typed belongs to it already: on the screen below, "a" would mean
 * archive. Hands each key over and keeps it from everybody else; ends by itself once a text box has the focus.
 */
export function captureTyping({ onCharacter, onEnter }: Typing): () => void {
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
