import { byCode, DatabaseFailure, SOCKET_CODES } from '../failure';

/**
 * Error number → code. https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html
 * https://mariadb.com/kb/en/mariadb-error-code-reference/
 */
const BY_NUMBER = byCode({
  timeout: [1317, 1969, 3024],
  locked: [1205, 3572],
  deadlock: [1213, 1614],
  duplicate: [1062, 1169, 1586],
  constraint: [1048, 1216, 1217, 1364, 1442, 1451, 1452, 1557, 1644, 3819, 4025],
  bad_value: [1264, 1265, 1292, 1366, 1367, 1406, 1411, 1426, 1441, 1690, 3140, 3141, 3988, 4078],
  no_privilege: [1044, 1142, 1143, 1227, 1345, 1370, 1410, 1419],
  missing: [1049, 1054, 1109, 1146, 1356],
  statement_binlog: [1665],
  read_only: [1290, 1792, 1836, 3100, 3989, 4134],
  connection: [1040, 1043, 1045, 1047, 1053, 1077, 1079, 1080, 1129, 1130, 1152, 1153, 1158, 1159, 1160, 1161, 1184, 1203, 1226, 1251, 1698, 1820, 1862, 1927, 1931, 3032, 3118, 3159, 3168, 3169, 3955, 4031, 4151],
}); // prettier-ignore

/** Driver codes for a failed handshake or a broken connection. */
const BROKEN =
  /^(HANDSHAKE_(SSL_ERROR|NO_SSL_SUPPORT|UNKNOWN_ERROR)|PROTOCOL_(CONNECTION_LOST|SEQUENCE_TIMEOUT)|AUTH_SWITCH_PLUGIN_ERROR)$/;
/** mysql2 reports these without a code: the connection is lost or could not be made. */
const CONNECTION_MESSAGES = ['closed state', 'Pool is closed', 'Connection lost', 'Queue limit reached', 'certificate'];

export function mysqlFailure(error: unknown): DatabaseFailure {
  if (error instanceof DatabaseFailure) return error;
  const record = typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : {};
  const code = typeof record.code === 'string' ? record.code : null;
  const number = typeof record.errno === 'number' ? record.errno : null;
  const known = number === null ? undefined : BY_NUMBER.get(String(number));
  if (known !== undefined) return new DatabaseFailure(known, String(number), error);
  const message = error instanceof Error ? error.message : '';
  // For a refused certificate the code is one of OpenSSL's, of which there are many.
  const broken =
    (code !== null &&
      (SOCKET_CODES.includes(code) || BROKEN.test(code) || /^(CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/.test(code))) ||
    record.fatal === true ||
    CONNECTION_MESSAGES.some((text) => message.includes(text));
  if (broken) return new DatabaseFailure('connection', code, error);
  const state = typeof record.sqlState === 'string' ? (number === null ? record.sqlState : String(number)) : null;
  return new DatabaseFailure('other', state, error);
}
