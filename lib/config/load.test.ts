import { describe, expect, it } from 'vitest';
import { withoutWayOut } from '@/scripts/testing/way-out';
import type { Config, Supported } from './config';
import { parseDurationSeconds, isFieldPath } from './schema';
import { loadConfig, parseConfig } from './load';

const SUPPORTED: Supported = {
  shapes: ['escrow-status', 'published-at'].map((key) => ({ key, engines: ['postgres', 'mysql'], parameters: { timeZone: 'UTC' } })),
};
const ENV: Record<string, string> = { READER: 'postgresql://reader:s3cret@db:5432/orders', TRIES: '7', SHOP: 'shop.example.com' };

const read = (text: string) => parseConfig(text, '/etc/console.yaml', SUPPORTED, (name) => ENV[name]);
function good(text: string): Config {
  const reading = read(text);
  if (!reading.ok) throw new Error(reading.problems.join('\n'));
  return reading.config;
}
function problems(text: string): string[] {
  const reading = read(text);
  const lines = reading.ok ? [] : reading.problems;
  expect.soft(withoutWayOut(lines.filter((line) => line.startsWith('outboxes['))), 'each says what to do').toEqual([]);
  return lines;
}

const outbox = (lines: string): string => `
databases:
  orders: {url: 'postgresql://reader@db/orders'}
outboxes:
  - id: escrow
    database: orders
    table: p2p.transaction_outbox
    shape: escrow-status
${lines}`;

describe('a good configuration', () => {
  it('fills in what was left out', () => {
    const config = good(outbox(''));
    expect(config.storeUrl).toBeNull();
    expect(config.auth.sessionHours).toBe(8);
    expect(config.databases).toEqual([{ id: 'orders', engine: 'postgres', url: 'postgresql://reader@db/orders', operatorUrl: null }]);
    expect(config.outboxes[0]).toEqual({
      id: 'escrow',
      name: 'escrow',
      database: 'orders',
      table: 'p2p.transaction_outbox',
      shape: 'escrow-status',
      parameters: { maxAttempts: undefined, stuckAfterSeconds: undefined, timeZone: undefined, deadTable: undefined, channel: undefined },
      links: [],
      amount: null,
      mask: [],
      keys: [],
      runbook: null,
      consumers: {},
    });
  });

  it('may name databases alone, while their outboxes are still to be found', () => {
    expect(good("databases:\n  orders: {url: 'postgresql://reader@db/orders'}").outboxes).toEqual([]);
  });

  it('takes values from the environment, numbers too, and leaves escaped ones alone', () => {
    const config = good(`
databases: {orders: {url: '\${READER}'}}
outboxes:
  - {id: a, name: 'Price in $\${X}', database: orders, table: t, shape: published-at, parameters: {maxAttempts: '\${TRIES}', stuckAfter: 5m, timeZone: Asia/Seoul, deadTable: t_dead}}
`);
    expect(config.databases[0]?.url).toBe(ENV.READER);
    expect(config.outboxes[0]?.name).toBe('Price in ${X}');
    expect(config.outboxes[0]?.parameters).toEqual({
      maxAttempts: 7,
      stuckAfterSeconds: 300,
      timeZone: 'Asia/Seoul',
      deadTable: 't_dead',
      channel: undefined,
    });
  });

  it.each([
    'https://{payload.host}/orders/1',
    'https://{payload.host}',
    'https://shop.example.com{payload.rest}/orders',
    'https://{type}.example.com/orders',
    'https://{payload.user}@shop.example.com/orders',
    'https://shop.example.com:{payload.port}/orders',
    'http://{headers.origin}?id={id}',
    'https://shop.example.com{id}#x',
    'https:///{payload.host}/orders',
    'https://\\{payload.host}/orders',
  ])('refuses the link %s, whose host an event would choose', (url) => {
    const found = problems(outbox(`    links: {Order: 'https://shop.example.com/{payload.a}', Shop: '${url}'}\n`));
    expect(found).toEqual([expect.stringMatching(/^outboxes\[0\]\.links\.Shop: outbox escrow: the host comes out of an event/)]);
    const listed = problems(outbox(`    links: [{label: Shop, url: '${url}'}]\n`));
    expect(listed).toEqual([expect.stringMatching(/^outboxes\[0\]\.links\[0\]\.url: outbox escrow: the host comes out of an event/)]);
  });

  it('takes the host of a link from the environment', () => {
    const config = good(outbox(`    links: {Shop: 'https://\${SHOP}/orders/{id}'}\n`));
    expect(config.outboxes[0]?.links).toEqual([{ label: 'Shop', url: 'https://shop.example.com/orders/{id}' }]);
  });

  it('takes links as a list or a map, the amount short or long, and masks', () => {
    const asMap = good(
      outbox(`    links: {Order: 'https://shop.example.com/{aggregateId}?t={payload.trace.id}'}
    amount: payload.amount
    runbook: https://wiki.example.com/runbooks/orders#relay
    mask: [payload.customer.email, 'items[*].card', headers.authorization]`),
    ).outboxes[0];
    expect(asMap?.runbook).toBe('https://wiki.example.com/runbooks/orders#relay');
    expect(asMap?.links).toEqual([{ label: 'Order', url: 'https://shop.example.com/{aggregateId}?t={payload.trace.id}' }]);
    expect(asMap?.amount).toEqual({ value: 'payload.amount' });
    expect(asMap?.mask).toEqual(['payload.customer.email', 'items[*].card', 'headers.authorization']);
    const asList = good(
      outbox(`    links: [{label: Order, url: 'https://shop.example.com/{id}'}]
    amount: {value: payload.amount, currency: payload.currency}`),
    ).outboxes[0];
    expect(asList?.links).toHaveLength(1);
    expect(asList?.amount?.currency).toBe('payload.currency');
    expect(good(outbox('    amount: {path: payload.total}')).outboxes[0]?.amount?.value).toBe('payload.total');
  });

  it('takes a mapping of its own and makes it a shape', () => {
    const config = good(`
databases: {orders: {url: 'postgresql://reader@db/orders'}}
outboxes:
  - id: mine
    name: Mine
    database: orders
    table: app.events
    shape:
      columns: {id: event_id, createdAt: made, payload: {column: body, path: [inner]}}
      states:
        - {state: published, when: {column: sent_at, isNull: false}}
        - {state: pending, when: {not: {column: sent_at, isNull: false}}}
`);
    expect(config.outboxes[0]?.shape).toMatchObject({
      key: 'inline',
      label: 'Mine',
      engines: ['postgres'],
      table: 'app.events',
    });
  });

  it('says which parts it accepts and does not use', () => {
    const standby = outbox('').replace("orders'}", "orders', replicaUrl: 5}");
    expect(good(`${standby}\nalerts: {rules: []}\n`).unused).toEqual([
      'alerts: this version does nothing with it',
      'databases.orders.replicaUrl: this version does nothing with it; a url on a standby does the same',
    ]);
  });
});

describe('a database of MySQL or MariaDB', () => {
  const reading = (url: string) =>
    parseConfig(outbox('').replace('postgresql://reader@db/orders', url), '/etc/console.yaml', SUPPORTED, (name) => ENV[name]);

  it('is named by either scheme, with TLS where it is wanted', () => {
    for (const url of ['mysql://reader@db/orders', 'mariadb://reader@db:3307/orders?ssl-mode=VERIFY_IDENTITY&ssl-ca=/etc/ca.pem']) {
      const found = reading(url);
      expect(found.ok && found.config.databases[0]).toMatchObject({ engine: 'mysql', url });
    }
  });

  it('is refused with a parameter that there is not, or a scheme that no engine speaks, by its path', () => {
    const problemsOf = (url: string): string[] => {
      const found = reading(url);
      return found.ok ? [] : found.problems;
    };
    expect(problemsOf('mysql://reader:pw@db/orders?multipleStatements=true')).toEqual([
      'databases.orders.url: there is no parameter multipleStatements; known: ssl-mode, ssl-ca, ssl-cert, ssl-key, socket',
    ]);
    expect(problemsOf('oracle://reader:pw@db/orders')[0]).toContain('mysql:// or mariadb://');
  });
});

describe('a configuration with problems', () => {
  it('lists every one at once, each by its path, with what to do', () => {
    const found = problems(`
stor: x
store: mysql://root@db/console
databases:
  Orders: {url: 'postgresql://a@b/c'}
  legacy: {url: 'oracle://root:pw@db/x'}
  files: {url: 'sqlite://x', operatorUr: y}
  later: {url: '\${NOT_SET}'}
outboxes:
  - {id: a, database: order, tabel: t, shape: escrow}
  - {id: a, database: legacy, table: a.b.c, shape: published-at, parameters: {stuckAfter: soon, maxAttempts: 0}}
  - {id: 'Bad Id', database: later, table: t, shape: published-at, links: {Order: 'https://x/{orderId}'}, runbook: 'javascript:alert(1)', mask: ['a b'], amount: {currency: payload.c}}
`);
    expect(found).toEqual(
      expect.arrayContaining([
        'stor: unknown key; did you mean "store"?',
        'store: write a connection string that begins with postgresql:// or postgres://; the store is always PostgreSQL',
        'databases.Orders: write a slug: small letters, digits and single dashes, for instance orders-kafka',
        'databases.legacy.url: write a connection string that begins with postgresql://, postgres://, mysql:// or mariadb:// (percent-encode special characters in the password)',
        'databases.files.operatorUr: unknown key; did you mean "operatorUrl"?',
        'databases.later.url: the environment variable NOT_SET is not set; set it or write the value here',
        'outboxes[0].table: outbox a: missing; write text or a map',
        'outboxes[0].tabel: outbox a: unknown key; did you mean "table"?',
        'outboxes[0].shape: outbox a: there is no shape "escrow"; did you mean "escrow-status"? Or write a mapping of your own',
        'outboxes[1].id: "a" is already the id of outboxes[0]; ids must differ',
        'outboxes[1].table: outbox a: a name that holds a dot is written as a map, for instance { schema: shop, table: cap.published }',
        'outboxes[1].parameters.stuckAfter: outbox a: write a duration such as 30s, 5m, 1h or a number of seconds',
        'outboxes[1].parameters.maxAttempts: outbox a: write a whole number from 1 to 1000000',
        'outboxes[2].runbook: outbox Bad Id: write an address that begins with https:// or http://',
        'outboxes[2].mask[0]: outbox Bad Id: write a path such as payload.customer.email or headers.authorization',
        'outboxes[2].amount: outbox Bad Id: write value, the path of the amount, once',
      ]),
    );
    expect(found.some((line) => line.startsWith('databases.files.url: write a connection string'))).toBe(true);
    expect(found.some((line) => line.startsWith('outboxes[0].database: outbox a: there is no database "order"'))).toBe(true);
    expect(found.some((line) => line.startsWith('outboxes[2].links.Order: outbox Bad Id: {orderId} is no field of an event'))).toBe(true);
    expect(found.some((line) => line.startsWith('outboxes[2].id: write a slug'))).toBe(true);
  });

  it('never repeats a connection string', () => {
    const found = problems(`databases: {a: {url: 'pg://user:hunter2@db/x'}}\noutboxes: []`).join('\n');
    expect(found).toContain('databases.a.url');
    expect(found).not.toContain('hunter2');
  });

  it('points into a mapping of its own', () => {
    const found = problems(`
databases: {orders: {url: 'postgresql://reader@db/orders'}}
outboxes:
  - id: mine
    database: orders
    table: t
    shape:
      columns: {id: event_id, paylod: body}
      states: [{state: gone, when: {column: sent_at, isNull: false}}]
      operation: {}
`);
    expect(found).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^outboxes\[0\]\.shape\.columns\.paylod: /),
        'outboxes[0].shape.states[0].state: outbox mine: write one of pending, retrying, processing, published, dead',
        'outboxes[0].shape.operation: outbox mine: unknown key; did you mean "operations"?',
      ]),
    );
  });

  it.each([
    ['', '(file): empty; write databases and outboxes'],
    ['- a', '(file): write a map, not a list'],
    ['databases: {a: {url: x}}\ndatabases: {}', '(file): not YAML at line 2, column 1: databases is there already; write it once'],
    ['a: [', 'a: not YAML at line 1, column 4: a bracket that is not closed; close it'],
    ['__proto__: {x: 1}\ndatabases: {}\noutboxes: []', '__proto__: unknown key'],
    ['databases: [1]\noutboxes: 5', 'outboxes: write a list, not a number'],
  ])('%j', (text, start) => {
    expect(problems(text).some((line) => line.startsWith(start))).toBe(true);
  });

  it('names the file that is not there', async () => {
    const reading = await loadConfig('/nowhere/console.yaml', SUPPORTED, () => undefined);
    expect(reading).toEqual({
      ok: false,
      problems: ['/nowhere/console.yaml: there is no such file; write one, or name yours with OUTBOX_CONSOLE_CONFIG'],
      usable: null,
    });
  });
});

describe('a mapping of your own', () => {
  const mapping = (states: string, columns = 'id: id'): string => `{columns: {${columns}}, states: [${states}]}`;
  const always = '{state: pending, when: {always: true}}';
  const sent = '{state: published, when: {column: sent, isTrue: true}}';
  const file = (...outboxes: string[]): string =>
    `databases: {a: {url: 'postgresql://x@db/a'}, b: {url: 'sqlite://x'}}\noutboxes:\n${outboxes.map((line) => `  - {table: t, ${line}}`).join('\n')}`;

  it('is refused for rules that are never reached, and for one time in two roles', () => {
    const found = problems(
      file(
        `id: late, database: a, shape: ${mapping(`${always}, ${sent}`)}`,
        `id: twice, database: a, shape: ${mapping(`${sent}, {state: dead, when: {column: sent, isTrue: true}}, ${always}`)}`,
        `id: time, database: a, shape: ${mapping(always, 'id: id, createdAt: at, publishedAt: at')}`,
        `id: good, database: a, shape: ${mapping(`${sent}, ${always}`, 'id: id, createdAt: at, publishedAt: sent_at')}`,
      ).replace('sqlite', 'postgresql'),
    );
    expect(found).toEqual([
      'outboxes[0].shape.states[1]: outbox late: is never reached: states[0] takes every row; put it first, or leave it out',
      'outboxes[1].shape.states[1]: outbox twice: is never reached: states[0] asks the same; put it first, or leave it out',
      'outboxes[2].shape.columns.publishedAt: outbox time: is the same as createdAt; name what is written when the event is sent, or leave it out',
    ]);
  });

  it('is looked at although others are wrong, and what nothing is wrong with can be held against its table', () => {
    const reading = read(
      file(
        'id: typo, database: a, shaep: published-at',
        `id: misused, database: a, shape: ${mapping('{state: dead, when: {column: n, above: {parameter: maxTries}}}')}`,
        `id: elsewhere, database: b, shape: ${mapping(always)}`,
        `id: fine, database: a, shape: ${mapping(always)}`,
        `id: fine, database: a, shape: ${mapping(always)}`,
      ),
    );
    if (reading.ok) throw new Error('taken');
    for (const start of [
      'databases.b.url: ',
      'outboxes[0].shaep: ',
      'outboxes[1].shape.states[0].when.above.parameter: ',
      'outboxes[4].id: ',
    ])
      expect(reading.problems.filter((line) => line.startsWith(start))).toHaveLength(1);
    expect(reading.usable?.places).toEqual([3]);
    expect(reading.usable?.config.outboxes.map(({ id }) => id)).toEqual(['fine']);
  });
});

it.each([
  ['30s', 30],
  ['5m', 300],
  ['1h 30m', 5_400],
  ['2d', 172_800],
  ['90', 90],
  [45, 45],
  ['0', null],
  [-1, null],
  ['soon', null],
  ['5', 5],
  ['', null],
] as const)('reads the duration %j as %j seconds', (text, seconds) => expect(parseDurationSeconds(text)).toBe(seconds));

it.each(['', 'a b', 'a..b', '"a"', 'payload', '$', '.', 'a.', 'a[b]'])('refuses the path %j', (text) =>
  expect(isFieldPath(text)).toBe(false),
);
it.each(['a', '$.a', 'payload.a.b', 'payload["a.b"].c', 'items[0].x', 'items.*.x'])('takes the path %j', (text) =>
  expect(isFieldPath(text)).toBe(true),
);

describe('operations of a mapping', () => {
  const mapping = (lines: string): string => `
databases: {d: {url: 'postgresql://reader@db/orders'}}
outboxes:
  - id: a
    database: d
    table: t
    shape:
      columns: {id: id}
      states:
        - {state: published, when: {column: s, equals: 3}}
        - {state: processing, when: {column: s, equals: 2}}
        - {state: dead, when: {column: s, equals: 4}}
        - {state: pending, when: {always: true}}
${lines}`;

  it('touch nothing that is out, nothing a relay may hold, and something at all', () => {
    const at = 'outboxes[0].shape.';
    const held = 'a relay may be working on it: bring it back with a rule under release';
    const out = 'a published event is out: no operation touches it again; leave published out of from';
    expect(
      problems(
        mapping(`      operations:
        requeue: [{from: [dead, published], version: exact, set: {s: {value: 1}}}, {from: [published], refuse: already_out}]
        retry: [{from: [processing], version: stable, set: {s: {value: 1}}}, {from: [dead], version: exact}]
        release: [{from: [processing], version: exact, set: {s: {value: 1}}}]
      archive: {from: [dead, published, processing]}`),
      ),
    ).toEqual([
      `${at}archive.from[1]: outbox a: ${out}`,
      `${at}archive.from[2]: outbox a: a relay may depend on its row being there: release it first`,
      `${at}operations.release[0]: outbox a: takes events from a relay that is at work: say what shows that it has gone, with olderThanStuckAfter or a guard`,
      `${at}operations.requeue[0].from[1]: outbox a: ${out}`,
      `${at}operations.retry[0].from[0]: outbox a: ${held}`,
      `${at}operations.retry[1]: outbox a: changes nothing: write set, moveTo or call`,
    ]);
    expect(
      problems(
        mapping(`      operations:
        requeue: [{from: [dead], version: exact, set: {s: {value: 1}}}]
        release: [{from: [processing], version: exact, set: {s: {value: 1}}, olderThanStuckAfter: taken_at}]
      archive: {from: [dead, pending]}`),
      ),
    ).toEqual([]);
  });

  it('name their states, and a list that must hold something is asked for it in words', () => {
    expect(problems(mapping('      archive: {from: []}'))).toEqual(['outboxes[0].shape.archive.from: outbox a: write at least 1']);
    expect(problems(mapping('      parameters: {stuckAfter: .inf}'))).toEqual([
      'outboxes[0].shape.parameters.stuckAfter: outbox a: write a number, not Infinity',
    ]);
  });
});

it('a password with a lone % is told before anything connects with it', () => {
  expect(problems("databases: {a: {url: 'postgresql://u:p%zz@h/d'}}")).toEqual([
    'databases.a.url: holds a % that begins no percent-encoded character: write %25 for a % itself',
  ]);
});
