import 'server-only';
import type { Metadata } from 'next';
import { headers } from 'next/headers';
import { notFound, redirect, unstable_rethrow } from 'next/navigation';
import { getTranslations } from 'next-intl/server';
import type { ReactNode } from 'react';
import { toSearchParams } from '@/lib/shared/lists/event-filter';
import type { Permission } from '@/lib/shared/permissions';
import { Problem, shownCode, type ShownCode } from '@/lib/shared/problems';
import { tried } from '@/lib/shared/tried';
import { PATH_HEADER } from './auth/cookies';
import { askerOfRequest, authorise, type Context } from './context';
import { declare, type EntryDeclaration } from './entry';
import { newReference, problemOf } from './problem-response';

type PathParams = Record<string, string>;

interface PageProps {
  params?: Promise<Record<string, string | string[] | undefined>>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

type Entry<P> = ((props: P) => Promise<ReactNode>) & { entry: EntryDeclaration };

/** A page that could not be rendered. The error page gets its digest, `<problem code>:<reference>`. */
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

const decoded = (value: string | string[] | undefined): string =>
  tried(() => decodeURIComponent([value ?? ''].flat().join('/'))) ?? notFound();

const pathParams = async ({ params }: Pick<PageProps, 'params'>): Promise<PathParams> =>
  Object.fromEntries(Object.entries((await params) ?? {}).map(([name, value]) => [name, decoded(value)]));

async function guarded(id: string, permission: Permission, work: (context: Context) => Promise<ReactNode>): Promise<ReactNode> {
  let requestId: string | null = null;
  try {
    const asker = await askerOfRequest(permission);
    requestId = asker.requestId;
    if (asker.actor === null) return await toLogin();
    return await work(authorise(asker, permission, false));
  } catch (error) {
    unstable_rethrow(error);
    if (error instanceof Problem && (error.code === 'not_found' || error.code === 'forbidden')) notFound();
    const reference = requestId ?? newReference();
    throw new PageFailure(shownCode(problemOf(error, id, reference)), reference, error);
  }
}

interface Definition<I> {
  /** For the log and the list of entry points. */
  id: string;
  permission: Permission;
  render: (context: Context, input: I) => Promise<ReactNode>;
}

/** The only way to define a page: checks who asks and their permission, then renders. Redirects to /login, or not found for other roles. */
export function definePage({ id, permission, render }: Definition<{ params: PathParams; search: URLSearchParams }>): Entry<PageProps> {
  const page = (props: PageProps): Promise<ReactNode> =>
    guarded(id, permission, async (context) =>
      render(context, { params: await pathParams(props), search: toSearchParams(await props.searchParams) }),
    );
  return declare(page, { id, permission });
}

export function definePublicPage(definition: {
  id: string;
  public: true;
  render: (search: URLSearchParams, params: PathParams) => Promise<ReactNode>;
}): Entry<PageProps> {
  const page = async (props: PageProps): Promise<ReactNode> =>
    definition.render(toSearchParams(await props.searchParams), await pathParams(props));
  return declare(page, { id: definition.id, public: true });
}

/** The layout around a group of pages; redirects to /login as they do. */
export function defineLayout({ id, permission, render }: Definition<ReactNode>): Entry<{ children: ReactNode }> {
  const layout = ({ children }: { children: ReactNode }) => guarded(id, permission, (context) => render(context, children));
  return declare(layout, { id, permission });
}

export const titled =
  (title: (words: Awaited<ReturnType<typeof getTranslations<never>>>, params: PathParams) => string) =>
  async (props: Pick<PageProps, 'params'>): Promise<Metadata> => ({ title: title(await getTranslations(), await pathParams(props)) });
