import fs from 'node:fs';
import { describe, expect, it } from 'vitest';

interface Locked {
  version?: string;
  integrity?: string;
  resolved?: string;
  optionalDependencies?: Record<string, string>;
}

const lock = JSON.parse(fs.readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Locked> };
const manifest = JSON.parse(fs.readFileSync('package.json', 'utf8')) as Record<'dependencies' | 'devDependencies', Record<string, string>>;

describe('package-lock.json', () => {
  it('names the binaries of every platform, or npm ci refuses it and other systems get none', () => {
    const missing = Object.entries(lock.packages).flatMap(([holder, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(
        (name) => !(`node_modules/${name}` in lock.packages) && !(`${holder}/node_modules/${name}` in lock.packages),
      ),
    );
    expect(missing).toEqual([]);
  });

  it('holds what package.json pins, exactly', () => {
    for (const [name, version] of Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })) {
      expect.soft(version, name).toMatch(/^\d/);
      expect.soft(lock.packages[`node_modules/${name}`]?.version, name).toBe(version);
    }
  });

  it('has the hash of every package, those of other platforms too', () => {
    const without = Object.entries(lock.packages).filter(
      ([name, { integrity = '' }]) => name !== '' && !/^sha512-[\w+/]{86}==$/.test(integrity),
    );
    expect(without.map(([name]) => name)).toEqual([]);
  });

  it('names no download address', () => {
    expect(Object.values(lock.packages).filter((entry) => entry.resolved !== undefined)).toEqual([]);
  });
});

describe('installing', () => {
  it('runs nobody’s scripts, and no command of ours counts on npm to run one before it', () => {
    expect(fs.readFileSync('.npmrc', 'utf8')).toMatch(/^ignore-scripts=true$/m);
    const { scripts } = manifest as unknown as { scripts: Record<string, string> };
    const around = Object.keys(scripts).filter((name) => /^(pre|post)./.test(name) || ['install', 'prepare'].includes(name));
    expect(around).toEqual([]);
    for (const name of ['build', 'demo', 'dev']) expect(scripts[name]).toMatch(/^tsx scripts\/gen\.ts && /);
  });
});
