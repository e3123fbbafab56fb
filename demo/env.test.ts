import { describe, expect, it } from 'vitest';
import { readDemoEnvironment } from './env';

describe('readDemoEnvironment', () => {
  it('needs nothing, and stays on this machine', () => {
    expect(readDemoEnvironment({})).toMatchObject({
      ok: true,
      env: { host: '127.0.0.1', port: 3000, url: 'http://localhost:3000', seed: 'outbox' },
    });
    expect(readDemoEnvironment({ HOST: 'localhost', PORT: '4001' })).toMatchObject({
      ok: true,
      env: { host: '127.0.0.1', url: 'http://localhost:4001' },
    });
    expect(readDemoEnvironment({ PORT: '4001', OUTBOX_CONSOLE_BASE_PATH: '/outbox' })).toMatchObject({
      env: { url: 'http://localhost:4001/outbox', basePath: '/outbox' },
    });
    expect(readDemoEnvironment({ HOST: '::1' })).toMatchObject({ ok: true, env: { host: '::1' } });
  });

  it('refuses other addresses and production, with or without accounts of one’s own', () => {
    for (const source of [
      { HOST: '0.0.0.0' },
      { HOST: '10.1.2.3' },
      { HOST: 'demo.example.com' },
      { NODE_ENV: 'production' },
      { APP_ENV: 'prod' },
    ]) {
      expect(readDemoEnvironment(source).ok).toBe(false);
      expect(readDemoEnvironment({ ...source, OUTBOX_DEMO_PASSWORD: 'long enough', OUTBOX_DEMO_TOKEN: 'long enough as well' }).ok).toBe(
        false,
      );
    }
  });

  it('takes a server for the outbox that is at home on MySQL, and never repeats what is wrong with its URL', () => {
    const url = 'mysql://root:secret@127.0.0.1:3306/';
    expect(readDemoEnvironment({ OUTBOX_DEMO_MYSQL_URL: url })).toMatchObject({ ok: true, env: { mysqlUrl: url } });
    expect(readDemoEnvironment({ OUTBOX_DEMO_MYSQL_URL: '  ' })).toMatchObject({ ok: true, env: { mysqlUrl: undefined } });
    for (const wrong of [
      'postgres://root:secret@127.0.0.1/',
      'root:secret@127.0.0.1',
      'mysql://root:secret@127.0.0.1/?multipleStatements=true',
    ]) {
      const reading = readDemoEnvironment({ OUTBOX_DEMO_MYSQL_URL: wrong });
      const [problem, ...others] = reading.ok ? [] : reading.problems;
      expect(problem).toMatch(/^OUTBOX_DEMO_MYSQL_URL: /);
      expect(problem).not.toContain('secret');
      expect(others).toEqual([]);
    }
  });

  it('lists everything that is wrong', () => {
    const reading = readDemoEnvironment({
      HOST: '0.0.0.0',
      NODE_ENV: 'production',
      PORT: '99999',
      OUTBOX_DEMO_PASSWORD: 'short',
      OUTBOX_DEMO_TOKEN: 'short',
    });
    expect(reading.ok ? [] : reading.problems.map((problem) => problem.split(':')[0])).toEqual([
      'HOST',
      'NODE_ENV',
      'PORT',
      'OUTBOX_DEMO_PASSWORD',
      'OUTBOX_DEMO_TOKEN',
    ]);
  });
});
