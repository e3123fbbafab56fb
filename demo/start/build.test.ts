import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import { once } from 'node:events';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { sourcesHash } from './build';
import { mustBeFree } from './port';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(path.join(os.tmpdir(), 'sources-'));
  await mkdir(path.join(root, 'app/deep'), { recursive: true });
  await writeFile(path.join(root, 'app/deep/page.tsx'), 'one');
  await writeFile(path.join(root, 'package-lock.json'), '{}');
});
afterEach(() => rm(root, { recursive: true, force: true }));

describe('sourcesHash', () => {
  it('changes with what is built, and only with that', async () => {
    const before = await sourcesHash(root);
    await writeFile(path.join(root, 'README.md'), 'words');
    await writeFile(path.join(root, 'app/deep/page.test.tsx'), 'a test');
    await mkdir(path.join(root, 'demo'));
    await writeFile(path.join(root, 'demo/main.ts'), 'the demo');
    expect(await sourcesHash(root)).toBe(before);
    await writeFile(path.join(root, 'app/deep/page.tsx'), 'two');
    const changed = await sourcesHash(root);
    expect(changed).not.toBe(before);
    await writeFile(path.join(root, 'package-lock.json'), '{"a":1}');
    const locked = await sourcesHash(root);
    expect(locked).not.toBe(changed);
    vi.stubEnv('OUTBOX_CONSOLE_BASE_PATH', '/outbox');
    expect(await sourcesHash(root)).not.toBe(locked);
    vi.unstubAllEnvs();
    expect(await sourcesHash(root)).toBe(locked);
  });
});

describe('mustBeFree', () => {
  it('says what to do about a port that is taken', async () => {
    const server = net.createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as net.AddressInfo;
    await expect(mustBeFree('127.0.0.1', port)).rejects.toThrow(
      `127.0.0.1:${port}: something listens there already; stop it, or choose another port with PORT`,
    );
    server.close();
    await once(server, 'close');
    await mustBeFree('127.0.0.1', port);
  });
});
