/** `npm run console -- doctor [outbox]`: examines tables and prints what is wrong with them and the statements that cure it. */
import type { Command } from 'commander';
import type { Config } from '@/lib/config/config';
import { directoryOptions, createDirectory } from '@/lib/outbox/directory';
import { createExaminer } from '@/lib/doctor/examiner';
import { readerOf } from '@/lib/messages/reader';
import { SEVERITIES, type Examination, type Severity } from '@/lib/shared/doctor';
import { examinationsAsCsv, examinationsAsMarkdown } from '@/lib/shared/doctor-text';
import type { Store } from '@/lib/store/store';
import { requireOutbox } from '../starting/command-failure';

/** Statuses by the worst open finding; a note is no reason to fail. */
export const DOCTOR_STATUS: Record<Severity, number> = { act: 20, watch: 10, note: 0 };
/** An outbox could not be examined, and nothing that was is worse. */
export const STATUS_UNKNOWN = 1;

/** What the command needs of the program it belongs to. */
export interface DoctorHost {
  configuration: () => Promise<Config>;
  withStore: <T>(work: (store: Store) => Promise<T>) => Promise<T>;
}

/** Adds the verb. */
export function addDoctor(program: Command, { configuration, withStore }: DoctorHost): void {
  program
    .command('doctor')
    .description('examine the tables and print what is wrong with them, worst first, and the statements that cure it')
    .argument('[outbox]', 'id of one outbox; all of them when left out')
    .option('--json', 'answer {examinations: […]}')
    .option('--csv', 'a line per finding')
    .addHelpText(
      'after',
      '\nEnds with 0 when nothing asks for more than a note, 10 for "watch", 20 for "act", 1 when an outbox could not be examined, 2 for a wrong argument.',
    )
    .action(async (outbox: string | undefined, options: { json?: boolean; csv?: boolean }) => {
      const config = await configuration();
      if (outbox !== undefined) requireOutbox(config, outbox);
      const examinations = await withStore(async (store) => {
        const directory = createDirectory(directoryOptions(config));
        try {
          const examiner = createExaminer({ directory, store });
          const ids = outbox === undefined ? directory.ids : [outbox];
          return await Promise.all(ids.map((id) => examiner.examine(id)));
        } finally {
          await directory.close();
        }
      });
      const reader = await readerOf('en', 'UTC');
      if (options.json === true) process.stdout.write(`${JSON.stringify({ examinations })}\n`);
      else process.stdout.write((options.csv === true ? examinationsAsCsv : examinationsAsMarkdown)(examinations, reader));
      process.exitCode = statusOfExaminations(examinations);
    });
}

/** The status a script acts on: the worst open finding, silenced ones left out. */
export function statusOfExaminations(examinations: readonly Examination[]): number {
  const open = examinations.flatMap(({ findings }) => findings.filter(({ silence }) => silence === null));
  const worst = Math.max(0, ...SEVERITIES.filter((one) => open.some(({ severity }) => severity === one)).map((one) => DOCTOR_STATUS[one]));
  return worst === 0 && examinations.some(({ problem }) => problem !== null) ? STATUS_UNKNOWN : worst;
}
