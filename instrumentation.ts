/** Starts the console's runtime with the server, not with the first visitor. */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME !== 'nodejs') return;
  const { startRuntime } = await import('./lib/server/runtime');
  await startRuntime();
}

/** Failures that no wrapper caught: in the rendering of components, mostly. */
export async function onRequestError(error: unknown, request: { path: string; method: string }): Promise<void> {
  if (process.env.NEXT_RUNTIME !== 'nodejs') return;
  const { logRequestError } = await import('./lib/server/runtime');
  logRequestError(error, request);
}
