import { NextIntlClientProvider } from 'next-intl';
import { DetectScreen } from '@/components/detect/detect-screen';
import { definePage, titled } from '@/lib/server/page';
import { readDetection, readExamination } from '@/lib/server/reads/detection';
import { examineCandidate } from '../actions';

export const generateMetadata = titled((words) => words('detect.title'));

export default definePage({
  id: 'page.detect',
  permission: 'account:manage',
  render: async (context, { search }) => {
    const databases = context.console.directory.databases.map(({ id, engine }) => ({ id, engine: engine.key }));
    const chosen = search.get('database') ?? (databases.length === 1 ? (databases[0]?.id ?? null) : null);
    const answer = chosen === null ? null : await readDetection(context, chosen);
    const wanted = answer?.detection?.candidates.find(
      ({ name }) => name.schema === search.get('schema') && name.table === search.get('table'),
    );
    const examination = chosen === null || wanted === undefined ? null : await readExamination(context, chosen, wanted.name, {});
    return (
      <NextIntlClientProvider>
        <DetectScreen databases={databases} chosen={chosen} answer={answer} examination={examination} examine={examineCandidate} />
      </NextIntlClientProvider>
    );
  },
});
