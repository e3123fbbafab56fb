export { NothingHere as default } from '@/components/frame/nothing-here';
