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
