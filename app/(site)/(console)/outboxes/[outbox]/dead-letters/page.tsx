import { DeadLettersScreen } from '@/components/dead-letters/dead-letters-screen';
import { definePage, titled } from '@/lib/server/page';
import { firstDeadLetters } from '@/lib/server/reads/dead-letters';
import { causeSnapshot, deadLettersSnapshot, writeCauseNote } from '../../../actions';

export const generateMetadata = titled((words, { outbox = '' }) => words('deadLetters.of', { outbox }));

export default definePage({
  id: 'page.outbox-dead-letters',
  permission: 'outbox:read',
  render: async (context, { params: { outbox = '' }, search }) => (
    <DeadLettersScreen
      {...await firstDeadLetters(context, outbox, search)}
      load={deadLettersSnapshot}
      readCause={causeSnapshot}
      note={writeCauseNote}
    />
  ),
});
