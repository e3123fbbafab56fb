import { useState } from 'react';
import { useTranslations } from 'next-intl';
import { CONNECTION_ROLES } from '@/lib/shared/connections';
import type { FleetDatabase } from '@/lib/shared/figures/fleet';
import { Since } from '../figures/format';
import { TableHead } from '../frame/note';
import classes from './fleet-databases.module.css';
import lines from './lines.module.css';

const NAMED = 3;

const COLUMNS = ['database', 'state', 'connections', 'held', 'outboxes'] as const;

/** The fleet's databases in one line; opened, all of them with their connections. */
export function FleetDatabases({ databases, onChoose }: { databases: readonly FleetDatabase[]; onChoose: (database: string) => void }) {
  const words = useTranslations('fleet.databases');
  const [open, setOpen] = useState(false);
  const away = databases.filter(({ state }) => state === 'down');
  const names = away.slice(0, NAMED).map(({ id }) => id);
  return (
    <details className={classes.databases} open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span>{words('all', { count: databases.length })}</span>
        {away.length > 0 && (
          <span className={classes.away}>
            {words('away', { count: away.length, names: names.join(', '), more: away.length - names.length })}
          </span>
        )}
        {databases.some(isBusy) && <span className={classes.away}>{words('busy')}</span>}
      </summary>
      {open && (
        <table className={`${lines.lines} ${classes.table}`} role="table">
          <TableHead asCards columns={COLUMNS.map((column) => ({ 'data-column': column, children: words(`columns.${column}`) }))} />
          <tbody role="rowgroup">
            {databases.map((database) => (
              <DatabaseRow key={database.id} database={database} onChoose={onChoose} />
            ))}
          </tbody>
        </table>
      )}
    </details>
  );
}

const isBusy = ({ connections }: FleetDatabase): boolean => CONNECTION_ROLES.some((role) => (connections[role]?.waiting ?? 0) > 0);

function DatabaseRow({ database, onChoose }: { database: FleetDatabase; onChoose: (database: string) => void }) {
  const words = useTranslations('fleet.databases');
  const { id, engine, version, state, since, why, outboxes, connections, server } = database;
  const roles = CONNECTION_ROLES.flatMap((role) => {
    const counts = connections[role];
    return counts === undefined ? [] : [{ role, ...counts, open: counts.inUse + counts.idle }];
  });
  const open = roles.reduce((sum, role) => sum + role.open, 0);
  return (
    <tr role="row" data-state={state}>
      <th role="rowheader" scope="row" data-column="database">
        <span className={classes.name}>{id}</span> <span className={classes.quiet}>{version ?? words(`engines.${engine}`)}</span>
      </th>
      <td role="cell" data-column="state">
        {state === 'unknown' ? (
          words('unknown')
        ) : (
          <>
            {state === 'up' ? words('up') : words('down', { why: why ?? 'network' })}{' '}
            <span className={classes.quiet}>{words.rich('since', { age: () => <Since at={since} /> })}</span>
          </>
        )}
      </td>
      <td role="cell" data-column="connections" data-label={words('columns.connections')}>
        {words('open', { open })}
        {roles.length > 0 && (
          <span className={classes.quiet}>
            {' '}
            {roles.map(({ role, open: held, waiting }) => words(`roles.${role}`, { open: held, waiting })).join(' · ')}
          </span>
        )}
      </td>
      <td role="cell" data-column="held" data-label={words('columns.held')}>
        {words('ofServer', { open: server.open, limit: server.limit })}
      </td>
      <td role="cell" data-column="outboxes">
        <button type="button" className={classes.choose} onClick={() => onChoose(id)}>
          {words('outboxes', { count: outboxes })}
        </button>
      </td>
    </tr>
  );
}
