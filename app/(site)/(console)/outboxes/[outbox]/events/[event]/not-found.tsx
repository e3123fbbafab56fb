export { EventNotFound as default } from '@/components/event/event-not-found';
