/** `npm run console -- prove <outbox>`: proves a mapping, keeps the proof in the store and prints it. */
import type { Command } from 'commander';
import type { Config } from '@/lib/config/config';
import { directoryOptions } from '@/lib/config/directory-options';
import { createDirectory } from '@/lib/outbox/directory';
import { keepProof, proofSource } from '@/lib/proving/keep';
import { PROOF_EVENTS_MAX, prove } from '@/lib/proving/prove';
import type { ProofDocument } from '@/lib/shared/proofs';
import type { Store } from '@/lib/store/store';
import { CommandFailure, EXIT_USAGE, ofGivenLogin, requireLogin, requireOutbox } from '../starting/command-failure';
import { proofLines } from './lines';

export interface ProveTools {
  configuration(): Promise<Config>;
  withStore<T>(work: (store: Store) => Promise<T>): Promise<T>;
  answer(line: string): void;
}

/** Whoever may run this command may read the configuration with its passwords; the store is told that it was this way. */
const ACTOR = { id: 'command', name: 'command line', role: '' };

const EXIT_NOT_PROVEN = 1;
const LACKS_TO_PROVE = "this login may not do what the proof needs: give one of the table's owner";

const repeated = (value: string, before: string[]): string[] => [...before, value];

/** Adds the verb. It ends with status 1 when the mapping was not proven. */
export function addProve(program: Command, tools: ProveTools): void {
  program
    .command('prove')
    .description('try every operation of an outbox on rows made in a transaction that is taken back, and say what each does')
    .argument('<outbox>', 'id of the outbox')
    .option('--event <id>', 'a real event to use where no row of its state can be made; may be given several times', repeated, [])
    .option('--url <url>', "a login of the table's owner for making the rows; the operations still run as the operator where it may")
    .option('--json', 'answer the proof as JSON')
    .addHelpText('after', '\nEnds with 0 when the mapping was proven, 1 when it was not or could not be tried, 2 for a wrong argument.')
    .action(async (id: string, options: { event: string[]; url?: string; json?: boolean }) => {
      const config = await tools.configuration();
      requireOutbox(config, id);
      await requireLogin(options.url);
      if (options.event.length > PROOF_EVENTS_MAX)
        throw new CommandFailure(`--event: at most ${String(PROOF_EVENTS_MAX)} events, one for each state is enough`, EXIT_USAGE);
      const { document, changesOn } = await tools.withStore(async (store): Promise<{ document: ProofDocument; changesOn: boolean }> => {
        const directory = createDirectory({ ...directoryOptions(config), proofs: proofSource(store) });
        try {
          const outbox = await directory.get(id);
          const proof = await prove(outbox, { events: options.event, ownerUrl: options.url ?? null, actor: ACTOR.name });
          await keepProof(store, directory, outbox, proof, ACTOR);
          return { document: proof, changesOn: (await directory.get(id)).whyReadOnly === null };
        } catch (error) {
          throw options.url === undefined ? error : ofGivenLogin(error, LACKS_TO_PROVE);
        } finally {
          await directory.close();
        }
      });
      if (options.json === true) tools.answer(JSON.stringify(document));
      else for (const line of proofLines(document, changesOn)) tools.answer(line);
      if (document.outcome !== 'proven') process.exitCode = EXIT_NOT_PROVEN;
    });
}
