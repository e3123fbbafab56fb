export { NothingHere as default } from '@/components/frame/failure';
