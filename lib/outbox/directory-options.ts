/** The configuration in the form the outbox room opens its directory with. */
import type { DirectoryOptions } from './directory';
import { SHAPES } from '@/lib/shape/catalog.gen';
import type { Config, OutboxConfig } from '@/lib/config/config';

function settingsOf(outbox: OutboxConfig): DirectoryOptions['outboxes'][number] {
  const { shape } = outbox;
  const found = typeof shape === 'string' ? SHAPES.find(({ key }) => key === shape) : shape;
  // The configuration was checked against the same registry.
  if (found === undefined) throw new Error(`No shape ${JSON.stringify(shape)} for outbox ${outbox.id}`);
  return { ...outbox, shape: found, inline: typeof shape !== 'string' };
}

/** Everything `createDirectory` needs. */
export function directoryOptions(config: Config): DirectoryOptions {
  return {
    databases: config.databases.map(({ id, url, operatorUrl }) => ({ id, url, operatorUrl: operatorUrl ?? undefined })),
    outboxes: config.outboxes.map(settingsOf),
  };
}
