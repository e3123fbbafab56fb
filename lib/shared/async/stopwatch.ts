/** Milliseconds since it was made, by the clock that advanced more: the wall clock may be set back, the steady one stops in sleep. */
export function stopwatch(): () => number {
  const [wall, steady] = [Date.now(), performance.now()];
  return () => Math.max(Date.now() - wall, performance.now() - steady);
}
