/** What the tables of Wolverine have in common: rows belong to a node by its number, 0 being nobody's. */
import type { ShapeInput } from '../../shape';
import { exact, is } from '../../define';

export const OWNED = { not: is('owner_id', 0) } satisfies ShapeInput['rows'];

/** Nodes that are alive; a node that is gone is taken off this list. */
export const WOLVERINE_NODES = {
  owner: { table: 'wolverine_nodes', on: { node_number: 'owner_id' }, purpose: 'instances', optional: true },
  nodes: { table: 'wolverine_nodes', purpose: 'instances', optional: true },
} satisfies ShapeInput['companions'];

/**
 * What the library itself writes when a node has left: its rows are nobody's again. Only where the list of nodes is there to
 * be read and somebody is on it: an owner that cannot be looked up may be alive.
 */
export const WOLVERINE_RELEASE = [
  exact(
    'processing',
    { owner_id: 0 },
    {
      guard: { all: [{ exists: { companion: 'nodes' } }, { not: { exists: { companion: 'owner' } } }] },
      warnings: ['may_already_be_out'],
      basis: 'mirrors_library',
    },
  ),
] satisfies NonNullable<ShapeInput['operations']>[string];
