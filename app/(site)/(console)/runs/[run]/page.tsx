import { RunScreen } from '@/components/runs/run-screen';
import { definePage, titled } from '@/lib/server/page';
import { readRun } from '@/lib/server/reads/runs';
import { cancelRun, pauseRun, resumeRun, runSnapshot, setPace } from '../../actions-runs';

export const generateMetadata = titled((words) => words('runs.one'));

export default definePage({
  id: 'page.run',
  permission: 'outbox:read',
  render: async (context, { params: { run = '' } }) => (
    <RunScreen
      initial={await readRun(context, run)}
      load={runSnapshot}
      actions={{ pause: pauseRun, resume: resumeRun, cancel: cancelRun, setPace }}
    />
  ),
});
