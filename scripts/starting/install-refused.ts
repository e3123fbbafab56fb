import { DatabaseFailure } from '@/lib/database/failure';
import { CommandFailure, EXIT_FAILED, ofGivenLogin } from './command-failure';

const LACKS =
  "may not create what the outbox needs: give one of the table's owner or of a superuser, or have its owner run what install prints";
/** MySQL's own number: the table's owner is not enough there, and would be told to look for himself. */
const NO_TRIGGERS = '1419';
const LACKS_TRIGGERS =
  'may not make the triggers under which no record is ever changed; all the rest is installed. A MySQL with a binary log lets a login with SUPER make them, or any while log_bin_trust_function_creators is on: run install once more with such a login';

/** Why an installation was refused, as a failure of the command; anything else as it is. `given`: its login came with `--url`. */
export function ofInstall(error: unknown, given: boolean): unknown {
  const lacks = error instanceof DatabaseFailure && error.state === NO_TRIGGERS ? LACKS_TRIGGERS : LACKS;
  if (given) return ofGivenLogin(error, `this login ${lacks}`);
  return error instanceof DatabaseFailure && error.code === 'no_privilege'
    ? new CommandFailure(`Without --url it runs with the operator's login, which ${lacks}`, EXIT_FAILED)
    : error;
}
