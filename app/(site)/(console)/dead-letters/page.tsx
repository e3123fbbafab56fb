import { DeadLettersScreen } from '@/components/dead-letters/dead-letters-screen';
import { definePage, titled } from '@/lib/server/page';
import { firstDeadLetters } from '@/lib/server/reads/dead-letters';
import { causeSnapshot, deadLettersSnapshot, writeCauseNote } from '../actions';

export const generateMetadata = titled((words) => words('deadLetters.title'));

export default definePage({
  id: 'page.dead-letters',
  permission: 'outbox:read',
  render: async (context, { search }) => (
    <DeadLettersScreen
      {...await firstDeadLetters(context, null, search)}
      load={deadLettersSnapshot}
      readCause={causeSnapshot}
      note={writeCauseNote}
    />
  ),
});
