/** Milliseconds since it was made, by the clock that has gone further: one may be set back, the other stands still while its machine sleeps. */
export function stopwatch(): () => number {
  const [wall, steady] = [Date.now(), performance.now()];
  return () => Math.max(Date.now() - wall, performance.now() - steady);
}
