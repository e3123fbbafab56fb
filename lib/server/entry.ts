import type { Permission } from '@/lib/shared/permissions';

/** Who may use an entry point. It is not possible to declare nothing. */
export type EntryDeclaration =
  { id: string; permission: Permission; public?: undefined } | { id: string; public: true; permission?: undefined };

/** Attaches its declaration to a wrapped entry point, so that a test can list them all. */
export function declare<F extends object>(wrapped: F, declaration: EntryDeclaration): F & { entry: EntryDeclaration } {
  const { id, permission } = declaration;
  return Object.assign(wrapped, { entry: permission === undefined ? ({ id, public: true } as const) : { id, permission } });
}
