import { describe, expect, it } from 'vitest';
import type { ConfigReading } from './config';
import { parseConfig, SUPPORTED } from './load';

const read = (...lines: string[]): ConfigReading => {
  const outbox = ['id: escrow', 'database: orders', 'table: p2p.transaction_outbox', 'shape: escrow-status', ...lines];
  const text = `databases: {orders: {url: 'postgresql://reader@db/orders'}}\noutboxes: [{${outbox.join(', ')}}]\n`;
  return parseConfig(text, '/etc/console.yaml', SUPPORTED, () => undefined);
};

describe('keys', () => {
  it('are paths of single values', () => {
    const keys = ['payload.order_id', 'headers["x-order"]', 'payload.lines[0].sku'];
    expect(read(`keys: ${JSON.stringify(keys)}`)).toMatchObject({ ok: true, config: { outboxes: [{ keys }] } });
    expect(read('keys: [payload.items.*.sku]')).toMatchObject({
      problems: ['outboxes[0].keys[0]: outbox escrow: name one value: a key cannot hold *'],
    });
  });

  it('are none that a viewer may not see: masked, around or within what is masked, or hidden by its name', () => {
    const mask = 'mask: [payload.customer.email, payload.person, headers.who]';
    const keys = 'keys: [payload.order_id, payload.customer, payload.person.no, headers.who, who, payload.iban]';
    const masked = (index: number, path: string) =>
      `outboxes[0].keys[${index}]: outbox escrow: ${path} is masked: name a value that everybody may see who reads events`;
    expect(read(mask, keys)).toMatchObject({
      problems: [masked(1, 'payload.customer'), masked(2, 'payload.person.no'), masked(3, 'headers.who'), masked(5, 'payload.iban')],
    });
  });
});
