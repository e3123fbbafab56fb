import { NothingHere } from '@/components/frame/failure';
import { titled } from '@/lib/server/page';

export const generateMetadata = titled((words) => words('errors.notFound'));

export default function NotFound() {
  return (
    <main>
      <NothingHere />
    </main>
  );
}
