import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { CHECKS } from './examine';

/** Besides the plants of this room: records of an older installation, and facts of a log that no test lets grow to gigabytes. */
const ELSEWHERE = ['lib/interventions/records-index.db.test.ts', 'lib/doctor/slots.test.ts'];

it('each check is brought up by a fault that some test plants', () => {
  const plants = readdirSync('lib/doctor').flatMap((file) => (file.endsWith('.db.test.ts') ? [`lib/doctor/${file}`] : []));
  const tested = [...plants, ...ELSEWHERE].map((file) => readFileSync(file, 'utf8')).join('\n');
  const named = new Set(tested.match(/(?<=['" ])[a-z_]+(?=['": ])/g));
  expect(Object.keys(CHECKS).filter((check) => !named.has(check))).toEqual([]);
});
