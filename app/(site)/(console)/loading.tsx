import { ScreenSkeleton } from '@/components/frame/failure';

export default function Loading() {
  return <ScreenSkeleton />;
}
