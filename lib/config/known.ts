/** What this build can do, for the checks of the configuration. */
import { SHAPES } from '@/lib/shape/catalog.gen';
import en from '@/lib/messages/en.json' with { type: 'json' };
import type { Known } from './config';

export const KNOWN: Known = {
  shapes: SHAPES.map((shape) => shape.key),
  parameters: Object.fromEntries(SHAPES.map((shape) => [shape.key, shape.parameters.extra ?? {}])),
  engines: ['postgres', 'mysql'],
  shapeEngines: Object.fromEntries(SHAPES.map((shape) => [shape.key, shape.engines])),
  words: { refusals: Object.keys(en.refusals), warnings: Object.keys(en.warnings) },
};
