import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '@/lib/server/context';
import { readCard } from '@/lib/server/embedding/cards';

/** What the cards of one outbox show, causes among it: a card does not wait for those that are being read. */
export function cards(context: Context, id: string): Promise<unknown[]> {
  return Promise.all(
    (['outbox', 'dead-letters', 'fleet'] as const).map(async (view) => {
      for (;;) {
        const card = await readCard(context, { view, outbox: id, outboxes: [id] });
        if (card.view !== 'dead-letters' || card.outboxes.every(({ complete }) => complete)) return card;
        await sleep(250);
      }
    }),
  );
}
