/** Rights that come by roles and by whole databases, as each server tells them. */
import mysql from 'mysql2/promise';
import { describe, expect, it } from 'vitest';
import { useTestMysql } from '@/scripts/testing/mysql';
import { openDatabase } from '../database';
import { parseGrant, reaches } from './grants';
import { tableRules } from './table-rules';

const database = useTestMysql(async ({ query }) => {
  await query('CREATE TABLE granted (id int PRIMARY KEY, status varchar(10), payload text)');
});

/** What a new user may do, and whether triggers show themselves to him. */
async function rightsOf(user: string, grants: string[]): Promise<{ delete: boolean; updates: string[]; triggers: boolean }> {
  const name = `${user}_${database.name}`;
  await database.query(`CREATE USER ${name}@'%' IDENTIFIED BY 'test'`);
  for (const grant of grants) await database.query(grant.replaceAll('{user}', `${name}@'%'`));
  const own = openDatabase({ id: 'test', url: database.urlFor(name, 'test') });
  try {
    const described = await own.read((read) => own.engine.describe(read, { schema: null, table: 'granted' }));
    const [rules] = await own.read((read) => tableRules(read, [{ schema: null, table: 'granted' }]));
    return {
      delete: described?.privileges.delete ?? false,
      updates: [...(described?.privileges.updateColumns ?? [])],
      triggers: rules?.triggers !== null,
    };
  } finally {
    await own.close();
  }
}

describe('what a user may do with a table', () => {
  it('by a role: its rights count where it is in force, and not where it only was given', async () => {
    const role = `role_${database.name}`;
    const given = [
      `CREATE ROLE ${role}`,
      `GRANT SELECT, DELETE, UPDATE (status) ON granted TO ${role}`,
      'GRANT SELECT ON granted TO {user}',
      `GRANT ${role} TO {user}`,
    ];
    expect(await rightsOf('idle', given)).toEqual({ delete: false, updates: [], triggers: false });
    const inForce = database.mariadb ? `SET DEFAULT ROLE ${role} FOR {user}` : `SET DEFAULT ROLE ${role} TO {user}`;
    expect(await rightsOf('acting', [...given.slice(2), inForce])).toEqual({ delete: true, updates: ['status'], triggers: false });
    await database.query(`GRANT TRIGGER ON ${database.name}.* TO ${role}`);
    expect(await rightsOf('seeing', [...given.slice(2), inForce])).toMatchObject({ triggers: true });
    await database.query(`DROP ROLE ${role}`);
  });

  it('by a database whose name is given with wildcards, and not by a neighbour’s', async () => {
    const pattern = `${database.name.slice(0, -1).replaceAll('_', '\\_')}_`;
    expect(await rightsOf('wild', [`GRANT SELECT, DELETE ON \`${pattern}\`.* TO {user}`])).toMatchObject({ delete: true });
    const neighbour = `${database.name.replaceAll('_', '\\_')}x`;
    expect(
      await rightsOf('next_door', [`GRANT DELETE ON \`${neighbour}\`.* TO {user}`, 'GRANT SELECT ON granted TO {user}']),
    ).toMatchObject({
      delete: false,
    });
  });
});

describe('a line of what the server grants', () => {
  it('names rights, columns, the table and whom, whatever the names hold', () => {
    expect(parseGrant('GRANT SELECT, UPDATE (`sta``tus`, `at`) ON `my shop`.`out.box` TO `re ad`@`%` WITH GRANT OPTION')).toEqual({
      revoked: false,
      rights: [
        { name: 'SELECT', columns: [] },
        { name: 'UPDATE', columns: ['sta`tus', 'at'] },
      ],
      on: '`my shop`.`out.box`',
      database: 'my shop',
      table: 'out.box',
      option: true,
      to: '`re ad`@`%`',
    });
    expect(parseGrant('GRANT `role`@`%` TO `u`@`%`')).toBeNull();
    expect(parseGrant("GRANT PROXY ON ''@'%' TO 'root'@'localhost' WITH GRANT OPTION")).toBeNull();
    expect(parseGrant("GRANT ROLE_ADMIN,SYSTEM_USER ON *.* TO 'u'@'%'")?.rights.map(({ name }) => name)).toEqual([
      'ROLE_ADMIN',
      'SYSTEM_USER',
    ]);
  });

  it('reaches what its wildcards say', () => {
    expect(reaches('d\\_1', 'd_1')).toBe(true);
    expect(reaches('d\\_1', 'dx1')).toBe(false);
    expect(reaches('d_1', 'dx1')).toBe(true);
    expect(reaches('d%', 'shop')).toBe(false);
    expect(reaches('a.c', 'abc')).toBe(false);
  });

  it('takes back of a right on everything what it names', () => {
    expect(parseGrant('REVOKE DELETE ON `shop`.* FROM `u`@`%`')).toMatchObject({ revoked: true, database: 'shop', table: '*' });
  });
});

describe('who else is connected', () => {
  it('is told to a user that may see it, and not known to another', async () => {
    const [looker, relay] = ['looks', 'relay'].map((name) => `${name}_${database.name}`) as [string, string];
    for (const user of [looker, relay]) {
      await database.query(`CREATE USER ${user}@'%' IDENTIFIED BY 'test'`);
      await database.query(`GRANT SELECT ON granted TO ${user}@'%'`);
    }
    const others = async () => {
      const own = openDatabase({ id: 'test', url: database.urlFor(looker, 'test') });
      return own.read((read) => own.engine.otherSessions(read)).finally(() => own.close());
    };
    const connected = await mysql.createConnection(database.urlFor(relay, 'test'));
    try {
      expect(await others()).toBeNull();
      await database.query(`GRANT PROCESS ON *.* TO ${looker}@'%'`);
      expect(await others()).toContainEqual({ name: relay, count: 1 });
      expect((await others())?.map(({ name }) => name)).not.toContain(looker);
    } finally {
      await connected.end();
    }
  });
});
