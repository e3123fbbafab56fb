import { readCard } from '@/lib/server/embedding/cards';
import { defineEmbeddedRoute } from '@/lib/server/embedding/route';

/** What a card shows; the page around it is the same for all. */
export const GET = defineEmbeddedRoute({ id: 'api.embed', embedded: true, run: readCard });
