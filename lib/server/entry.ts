import type { Permission } from '@/lib/shared/permissions';

/** Who may use an entry point. It is not possible to declare nothing. `embedded`: who has a card's token, or is signed in where that is enough. */
export type EntryDeclaration =
  | { id: string; permission: Permission; public?: undefined }
  | { id: string; public: true; permission?: undefined }
  | { id: string; embedded: true; permission?: undefined };

/** Attaches its declaration to a wrapped entry point, so that a test can list them all. */
export const declare = <F extends object>(wrapped: F, entry: EntryDeclaration): F & { entry: EntryDeclaration } =>
  Object.assign(wrapped, { entry });
