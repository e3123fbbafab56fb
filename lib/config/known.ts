/** What this build can do, for the checks of the configuration. */
import { SHAPES } from '@/lib/outbox/shape-registry.gen';
import type { Known } from './config';

export const KNOWN: Known = {
  shapes: SHAPES.map((shape) => shape.key),
  parameters: Object.fromEntries(SHAPES.map((shape) => [shape.key, shape.parameters.extra ?? {}])),
  engines: ['postgres', 'mysql'],
};
