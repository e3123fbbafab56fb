/** What stands in a masked place. */
export const MASK = '••••';
