export { ScreenSkeleton as default } from '@/components/frame/failure';
