/** `npm run console -- prove <outbox>`: proves a mapping, keeps the proof in the store and prints it. */
import type { Command } from 'commander';
import type { Config } from '@/lib/config/config';
import { directoryOptions, createDirectory } from '@/lib/outbox/directory';
import { COMMAND_LINE } from '@/lib/identity/accounts';
import { keepProof, proofSource } from '@/lib/proving/keep';
import { PROOF_EVENTS_MAX, prove } from '@/lib/proving/prove';
import type { ProofDocument } from '@/lib/shared/changes/proofs';
import type { Store } from '@/lib/store/store';
import { CommandFailure, EXIT_USAGE, requireOutbox } from '../starting/command-failure';
import { proofLines } from './lines';

export interface ProveTools {
  configuration(): Promise<Config>;
  withStore<T>(work: (store: Store) => Promise<T>): Promise<T>;
  answer(line: string): void;
}

const EXIT_NOT_PROVEN = 1;

const repeated = (value: string, before: string[]): string[] => [...before, value];

/** Adds the verb. It ends with status 1 when the mapping was not proven. */
export function addProve(program: Command, tools: ProveTools): void {
  program
    .command('prove')
    .description('try every operation of an outbox on real events, in transactions that are taken back, and say what each does')
    .argument('<outbox>', 'id of the outbox')
    .option('--event <id>', 'an event to try on; of states without one, the newest are taken; may be given several times', repeated, [])
    .option('--json', 'answer the proof as JSON')
    .addHelpText('after', '\nEnds with 0 when no operation failed, 1 when one did or there is none, 2 for a wrong argument.')
    .action(async (id: string, options: { event: string[]; json?: boolean }) => {
      const config = await tools.configuration();
      requireOutbox(config, id);
      if (options.event.length > PROOF_EVENTS_MAX)
        throw new CommandFailure(`--event: at most ${String(PROOF_EVENTS_MAX)} events, one for each state is enough`, EXIT_USAGE);
      const { document, changesOn } = await tools.withStore(async (store): Promise<{ document: ProofDocument; changesOn: boolean }> => {
        const directory = createDirectory({ ...directoryOptions(config), proofs: proofSource(store) });
        try {
          const outbox = await directory.get(id);
          const proof = await prove(outbox, { events: options.event, actor: COMMAND_LINE.name });
          await keepProof(store, directory, outbox, proof, COMMAND_LINE);
          return { document: proof, changesOn: (await directory.get(id)).whyReadOnly === null };
        } finally {
          await directory.close();
        }
      });
      if (options.json === true) tools.answer(JSON.stringify(document));
      else for (const line of proofLines(document, changesOn)) tools.answer(line);
      if (document.outcome !== 'proven') process.exitCode = EXIT_NOT_PROVEN;
    });
}
