import 'server-only';
import { headers } from 'next/headers';
import { notFound, redirect, unstable_rethrow } from 'next/navigation';
import type { ReactNode } from 'react';
import type { Permission } from '@/lib/shared/permissions';
import { Problem, shownCode, type ShownCode } from '@/lib/shared/problems';
import { askerOfRequest, authorise, type Context } from './context';
import { declare, type EntryDeclaration } from './entry';
import { newReference, problemOf } from './problem-response';
import { PATH_HEADER } from './auth/cookies';

export interface PageInput {
  /** Path parameters, decoded. */
  params: Record<string, string>;
  searchParams: Record<string, string | string[] | undefined>;
}

interface PageProps {
  params: Promise<Record<string, string | string[] | undefined>>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export type Page = ((props: PageProps) => Promise<ReactNode>) & { entry: EntryDeclaration };

/** A page that could not be rendered. Its digest reaches the error page: `<problem code>:<reference>`. */
class PageFailure extends Error {
  readonly digest: string;
  constructor(code: ShownCode, reference: string, cause: unknown) {
    super(`The page could not be rendered: ${code}`, { cause });
    this.name = 'PageFailure';
    this.digest = `${code}:${reference}`;
  }
}

async function toLogin(): Promise<never> {
  const path = (await headers()).get(PATH_HEADER) ?? '/';
  redirect(path === '/' ? '/login' : `/login?callbackUrl=${encodeURIComponent(path)}`);
}

function decoded(value: string | string[] | undefined): string {
  const text = Array.isArray(value) ? value.join('/') : (value ?? '');
  try {
    return decodeURIComponent(text);
  } catch {
    return notFound();
  }
}

async function guarded(id: string, permission: Permission, work: (context: Context) => Promise<ReactNode>): Promise<ReactNode> {
  let requestId = '';
  try {
    const asker = await askerOfRequest(permission);
    requestId = asker.requestId;
    if (asker.actor === null) return await toLogin();
    return await work(authorise(asker, permission));
  } catch (error) {
    unstable_rethrow(error);
    if (error instanceof Problem && (error.code === 'not_found' || error.code === 'forbidden')) notFound();
    const reference = requestId === '' ? newReference() : requestId;
    const problem = problemOf(error, id, reference);
    throw new PageFailure(shownCode(problem), reference, error);
  }
}

/**
 * The one way to write a page: who is asking, may they, and only then `render`. Without a sign-in it leads to /login;
 * what is not there, or not for this role, is not found.
 */
export function definePage(definition: {
  /** Stable name, for the log and the list of entry points. */
  id: string;
  permission: Permission;
  render: (context: Context, input: PageInput) => Promise<ReactNode>;
}): Page {
  const { id, permission, render } = definition;
  const page = (props: PageProps): Promise<ReactNode> =>
    guarded(id, permission, async (context) => {
      const params = Object.fromEntries(Object.entries(await props.params).map(([name, value]) => [name, decoded(value)]));
      return render(context, { params, searchParams: await props.searchParams });
    });
  return declare(page, { id, permission });
}

/** A page for everybody: no context but the request itself. */
export function definePublicPage(definition: { id: string; public: true; render: (input: PageInput) => Promise<ReactNode> }): Page {
  const page = async (props: PageProps): Promise<ReactNode> => definition.render({ params: {}, searchParams: await props.searchParams });
  return declare(page, { id: definition.id, public: true });
}

/** What surrounds the pages of a group; leads to /login like they do. */
export function defineLayout(definition: {
  id: string;
  permission: Permission;
  render: (context: Context, children: ReactNode) => Promise<ReactNode>;
}): ((props: { children: ReactNode }) => Promise<ReactNode>) & { entry: EntryDeclaration } {
  const { id, permission, render } = definition;
  const layout = ({ children }: { children: ReactNode }): Promise<ReactNode> =>
    guarded(id, permission, (context) => render(context, children));
  return declare(layout, { id, permission });
}
