/**
 * What is copied is read later and elsewhere, where "3 m ago" means nothing: relative times go to the clipboard as the
 * absolute ones they stand for. Returns null when the selection holds none, and the browser then copies as always.
 */
export function selectionWithAbsoluteTimes(selection: Selection | null): string | null {
  if (!selection || selection.isCollapsed || selection.rangeCount === 0) return null;
  const range = selection.getRangeAt(0);
  const held = document.createElement('div');
  held.append(range.cloneContents());
  const times = held.querySelectorAll<HTMLElement>('time[data-absolute]');
  const around = range.commonAncestorContainer.parentElement?.closest<HTMLElement>('time[data-absolute]');
  if (around) return around.dataset.absolute ?? null;
  if (times.length === 0) return null;
  for (const time of times) time.textContent = time.dataset.absolute ?? time.textContent;
  // innerText keeps the lines and tabs of a table, but only for elements that are laid out.
  held.style.cssText = 'position:fixed;left:-99999px;top:0;white-space:pre-wrap';
  document.body.append(held);
  const text = held.innerText;
  held.remove();
  return text;
}
