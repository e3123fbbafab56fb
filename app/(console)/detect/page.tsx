import type { Metadata } from 'next';
import { getTranslations } from 'next-intl/server';
import { DetectScreen } from '@/components/detect/detect-screen';
import { definePage } from '@/lib/server/page';
import { readDetection, readExamination } from '@/lib/server/reads/detection';
import { examineCandidate } from './actions';

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations('detect'))('title') };
}

export default definePage({
  id: 'page.detect',
  permission: 'account:manage',
  render: async (context, { searchParams }) => {
    const one = (key: string): string | null => [searchParams[key]].flat()[0] ?? null;
    const databases = context.console.directory.databases.map(({ id, engine }) => ({ id, engine: engine.key }));
    const chosen = one('database') ?? (databases.length === 1 ? (databases[0]?.id ?? null) : null);
    const [schema, table] = [one('schema'), one('table')];
    const answer = chosen === null ? null : await readDetection(context, chosen);
    const found = answer?.detection?.candidates.some(({ name }) => name.schema === schema && name.table === table) ?? false;
    const examination =
      chosen !== null && found && schema !== null && table !== null ? await readExamination(context, chosen, { schema, table }, {}) : null;
    return <DetectScreen databases={databases} chosen={chosen} answer={answer} examination={examination} examine={examineCandidate} />;
  },
});
