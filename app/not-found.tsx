import type { Metadata } from 'next';
import { getTranslations } from 'next-intl/server';
import { NothingHere } from '@/components/frame/failure';

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations('errors'))('notFound') };
}

export default function NotFound() {
  return (
    <main>
      <NothingHere />
    </main>
  );
}
