/** Server actions called as a script would call them: by the id the build gave them. */
import fs from 'node:fs';
import path from 'node:path';
import type { APIRequestContext } from '@playwright/test';

const MANIFEST = path.resolve(import.meta.dirname, '../../.next/server/server-reference-manifest.json');

export interface ActionManifest {
  node: Record<string, { workers: Record<string, unknown>; filename: string; exportedName: string }>;
  edge: Record<string, unknown>;
}

export function readActions(): ActionManifest {
  return JSON.parse(fs.readFileSync(MANIFEST, 'utf8')) as ActionManifest;
}

/** What the action of this name answers at an address whose page knows it, as the text that came. */
export async function callAction(
  request: APIRequestContext,
  at: { address: string; name: string; origin: string },
  input: unknown,
): Promise<string> {
  const id = Object.entries(readActions().node).find(([, { exportedName }]) => exportedName === at.name)?.[0];
  if (id === undefined) throw new Error(`The build has no action ${at.name}`);
  const answer = await request.post(at.address, {
    headers: { 'next-action': id, 'content-type': 'text/plain;charset=UTF-8', accept: 'text/x-component', origin: at.origin },
    data: JSON.stringify([input]),
  });
  return answer.text();
}
