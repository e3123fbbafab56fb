import { notFound } from 'next/navigation';
import { NextIntlClientProvider } from 'next-intl';
import { getMessages } from 'next-intl/server';
import { CardFrame } from '@/components/cards/card-frame';
import { getConsole } from '@/lib/server/console';
import { definePublicPage, titled } from '@/lib/server/page';
import { isCardView } from '@/lib/shared/embedding/views';

export const generateMetadata = titled((words, { view }) => words(isCardView(view) ? `cards.titles.${view}` : 'errors.notFound'));

/** A card without its data, the same for all who ask in one language and zone: what it shows it asks for itself. */
export default definePublicPage({
  id: 'embed.page',
  public: true,
  render: async (_search, { view }) => {
    const { embedding } = (await getConsole()).config;
    if (embedding === null || !isCardView(view)) notFound();
    const { cards, find, units, figures, known, unavailable, verdicts } = await getMessages();
    const own =
      view === 'fate'
        ? { find: { fate: find.fate, says: find.says, why: find.why, searched: find.searched } }
        : { figures, known, unavailable, verdicts };
    return (
      <NextIntlClientProvider messages={{ cards, units, ...own }}>
        <CardFrame view={view} origins={embedding.origins} />
      </NextIntlClientProvider>
    );
  },
});
