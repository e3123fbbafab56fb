/** What the work answers; null where that takes longer than so many milliseconds. Rejects as the work does in that time. */
export async function within<T>(work: Promise<T>, milliseconds: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), milliseconds);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
