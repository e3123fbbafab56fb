import { createSpotlight } from '@mantine/spotlight';

/** The palette's own store: whether it is open. */
export const [paletteStore, palette] = createSpotlight();
