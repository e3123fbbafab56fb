/** Addresses of screens, with ids encoded. */

/** An outbox, or an address below it. */
export const outboxHref = (outbox: string, rest = ''): string => `/outboxes/${encodeURIComponent(outbox)}${rest}`;
export const eventHref = (outbox: string, event: string): string => outboxHref(outbox, `/events/${encodeURIComponent(event)}`);
export const doctorHref = (outbox: string): string => `/doctor?outbox=${encodeURIComponent(outbox)}`;
export const eventAuditHref = (event: string): string => `/audit?${new URLSearchParams({ event }).toString()}`;
export const outboxAuditHref = (outbox: string): string => `/audit?${new URLSearchParams({ outbox }).toString()}`;
/** What became of a business key. */
export const findHref = (key: string): string => `/find?${new URLSearchParams({ key }).toString()}`;
/** What was done in one action, by the id of any of its interventions. */
export const actionHref = (intervention: string): string => `/audit?action=${intervention}`;
export const planHref = (plan: string): string => `/plans/${plan}`;
export const runHref = (run: string): string => `/runs/${run}`;
