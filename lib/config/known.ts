/** What this build can do, for the checks of the configuration. */
import { SHAPES } from '@/lib/outbox/shape-registry.gen';
import type { Known } from './config';

export const KNOWN: Known = { shapes: SHAPES.map((shape) => shape.key), engines: ['postgres', 'mysql'] };
