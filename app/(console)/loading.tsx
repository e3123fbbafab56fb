import { ScreenSkeleton } from '@/components/frame/screen-skeleton';

export default function Loading() {
  return <ScreenSkeleton />;
}
