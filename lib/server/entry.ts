import type { Permission } from '@/lib/shared/permissions';

/** What an entry point declares about itself: who may use it. There is no way to declare nothing. */
export type EntryDeclaration =
  { id: string; permission: Permission; public?: undefined } | { id: string; public: true; permission?: undefined };

/** Every wrapped entry point carries its declaration, so that a test can list them. */
export function declare<F extends object>(wrapped: F, declaration: EntryDeclaration): F & { entry: EntryDeclaration } {
  const { id, permission } = declaration;
  return Object.assign(wrapped, { entry: permission === undefined ? ({ id, public: true } as const) : { id, permission } });
}
