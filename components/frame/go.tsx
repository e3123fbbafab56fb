import NextLink from 'next/link';
import { useRouter } from 'next/navigation';
import { type ComponentProps, createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from 'react';
import { BASE_PATH } from '@/lib/shared/base-path';
import { POLL_INTERVAL_MS } from '@/lib/shared/polling';
import { useLiveReading } from './live';

type Step = (router: ReturnType<typeof useRouter>) => void;

/** Outside the frame nothing is polled and nothing known: links go their way. */
const WayContext = createContext({ open: (): boolean => true, go: (_: Step) => {}, stay: () => {}, waiting: false });

const answers = (): Promise<boolean> =>
  fetch(`${BASE_PATH}/api/health/live`, { cache: 'no-store', signal: AbortSignal.timeout(3_000) }).then(
    ({ ok }) => ok,
    () => false,
  );

/** Navigation that waits where the console does not answer: Next alone would leave for the browser's error page. */
export function GoProvider({ children }: { children: ReactNode }) {
  const router = useRouter();
  const reading = useLiveReading();
  const heardAt = useRef(0);
  useEffect(() => {
    heardAt.current = reading?.failing === null ? Date.now() : 0;
  }, [reading]);
  const last = useRef<Step>(undefined);
  const [waiting, setWaiting] = useState(false);
  const way = useMemo(() => {
    const open = () => navigator.onLine && Date.now() - heardAt.current < 2 * POLL_INTERVAL_MS;
    const follow = async (step?: Step) => {
      last.current = step;
      while (step !== undefined && !open() && !(await answers()) && last.current === step) {
        setWaiting(true);
        await new Promise((resume) => setTimeout(resume, 1_000));
      }
      if (last.current !== step) return;
      setWaiting(false);
      step?.(router);
    };
    return { open, go: (step: Step) => void follow(step), stay: () => void follow() };
  }, [router]);
  return <WayContext value={useMemo(() => ({ ...way, waiting }), [way, waiting])}>{children}</WayContext>;
}

/** `go` carries out a navigation; where the console does not answer, as soon as it does. The last one counts. */
export const useGo = () => useContext(WayContext);

/** A link to a page of the console. */
export function Link({ href, ...props }: Omit<ComponentProps<typeof NextLink>, 'href'> & { href: string }) {
  const { open, go } = useGo();
  const onNavigate = (event: { preventDefault: () => void }) => {
    if (open()) return;
    event.preventDefault();
    go((router) => router.push(href));
  };
  return <NextLink href={href} onNavigate={onNavigate} {...props} />;
}

/** One of many links, or one that is seldom followed: its page is fetched no sooner. */
export const PlainLink = (props: ComponentProps<typeof Link>) => <Link prefetch={false} {...props} />;
