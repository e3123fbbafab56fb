import { notFound } from 'next/navigation';
import { definePublicPage, titled } from '@/lib/server/page';

export const generateMetadata = titled((words) => words('errors.notFound'));

/** Addresses that no page has: beside a second root layout, Next would show a page of its own for them. */
export default definePublicPage({ id: 'unknown', public: true, render: () => notFound() });
