import type { HostOrder } from './orders';

export interface HostPage {
  consoleUrl: string;
  orders: HostOrder[];
  /** The one that is open: of the address, else the first. */
  order: string;
}

const SNIPPET = (consoleUrl: string, order: string) => `<script src="${consoleUrl}/embed.v1.js" defer></script>
<outbox-card console="${consoleUrl}" view="fate" key="${order}" token-url="/token"></outbox-card>`;

/** An order page of a shop, which knows of the console what is between the two tags. */
export function hostPage({ consoleUrl, orders, order }: HostPage): string {
  const open = orders.find(({ id }) => id === order);
  const card = (view: string, more = '') =>
    `<outbox-card console="${escaped(consoleUrl)}" view="${view}"${more} token-url="/token" background="transparent"></outbox-card>`;
  const facts = open && { Customer: open.customer, Items: String(open.items), Total: open.total, Status: open.status };
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(order)} · a shop's orders</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/page.css">
<script src="${escaped(consoleUrl)}/embed.v1.js" defer></script>
<script src="/theme.js" defer></script>
</head>
<body>
<header>
<h1>Orders</h1>
<p>A shop's own page, which embeds four cards of Outbox Console. It is another site than <a href="${escaped(consoleUrl)}">the console</a>, without
its cookies or a sign-in: the page's server signs what each card may show. It belongs to the demo.</p>
<label>Theme <select><option value="auto">as the system</option><option value="light">light</option><option value="dark">dark</option></select></label>
</header>
<main>
<div class="order">
<nav aria-label="Orders"><h2>Lately</h2><ul>${orders.map((one) => orderLink(one, order)).join('')}</ul></nav>
<section><h2>${escaped(order)}</h2>
${
  facts
    ? `<dl>${Object.entries(facts)
        .map(([name, value]) => `<div><dt>${name}</dt><dd>${escaped(value)}</dd></div>`)
        .join('')}</dl>`
    : ''
}
<p>What became of its events, over all outboxes:</p>
${card('fate', ` key="${escaped(order)}"`)}
<details><summary>How it is embedded</summary><pre>${escaped(SNIPPET(consoleUrl, order))}</pre></details></section>
</div>
<div class="cards">
<section><h2>The outbox behind these orders</h2>${card('outbox', ' outbox="orders-kafka" window="1h"')}</section>
<section><h2>What died in escrow</h2>${card('dead-letters', ' outbox="escrow"')}</section>
<section class="wide"><h2>All outboxes</h2>${card('fleet')}</section>
</div>
</main>
</body>
</html>
`;
}

function orderLink({ id, status }: HostOrder, order: string): string {
  const current = id === order ? ' aria-current="page"' : '';
  return `<li><a href="/?order=${encodeURIComponent(id)}"${current}>${escaped(id)}</a> <small>${escaped(status)}</small></li>`;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string): string => text.replace(/[&<>"]/g, (one) => ENTITIES[one] ?? one);
