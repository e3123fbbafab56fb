/** What stands in a masked place. */
export const MASK = '••••';

/** Digits as many as a card number has, as they are written: masked in free text where their check digit is that of a card. */
export const CARD_DIGITS = /\b\d(?:[ -]?\d){12,18}\b/g;
