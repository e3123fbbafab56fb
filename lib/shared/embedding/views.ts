/** What a card can show, and which parameters a view has: claims of a token, attributes of the host's element, the query of a session. */
export const CARD_VIEWS = ['fate', 'outbox', 'dead-letters', 'fleet'] as const;
export type CardView = (typeof CARD_VIEWS)[number];

/** `key`: a business key. `outbox`: an outbox's id. `window`: one of WINDOWS. */
export type CardParameter = 'key' | 'outbox' | 'window';

/** Whether a view cannot do without a parameter, or can; others it does not know. */
export const CARD_PARAMETERS: Record<CardView, Partial<Record<CardParameter, 'required' | 'optional'>>> = {
  fate: { key: 'required' },
  outbox: { outbox: 'required', window: 'optional' },
  'dead-letters': { outbox: 'optional' },
  fleet: {},
};

export const isCardView = (value: unknown): value is CardView => (CARD_VIEWS as readonly unknown[]).includes(value);
