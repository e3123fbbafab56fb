import { FindScreen } from '@/components/find/find-screen';
import { definePage, titled } from '@/lib/server/page';
import { readFound } from '@/lib/server/reads/find';
import { keyProblem } from '@/lib/shared/lists/found';
import { findSnapshot } from '../actions';

export const generateMetadata = titled((words) => words('find.title'));

export default definePage({
  id: 'page.find',
  permission: 'outbox:read',
  render: async (context, { search }) => {
    const asked = search.get('key');
    const initial = asked === null || keyProblem(asked) !== null ? null : await readFound(context, asked);
    return <FindScreen asked={asked} initial={initial} load={findSnapshot} />;
  },
});
