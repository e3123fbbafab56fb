import type { KyselyPlugin, PluginTransformQueryArgs, PluginTransformResultArgs, QueryResult, RootOperationNode, UnknownRow } from 'kysely';
import type { Db } from '@/lib/database/engine';
import type { ProofResult } from '@/lib/shared/proofs';

const CHANGES = /^\s*(update|insert|delete|with)\b|\bfor update\b|\bpg_notify\s*\(/i;

/** Listens to what runs on a connection, so that a proof shows the statements themselves and not what they should have been. */
export class Recorder implements KyselyPlugin {
  private readonly nodes: RootOperationNode[] = [];

  transformQuery(args: PluginTransformQueryArgs): RootOperationNode {
    this.nodes.push(args.node);
    return args.node;
  }

  transformResult(args: PluginTransformResultArgs): Promise<QueryResult<UnknownRow>> {
    return Promise.resolve(args.result);
  }

  /** Statements that locked, changed or called something, in order, each once. */
  statements(db: Db, called: string[]): ProofResult['statements'] {
    const executor = db.getExecutor();
    const seen = new Set<string>();
    return this.nodes
      .map((node) => executor.compileQuery(node, { queryId: 'proof' }))
      .filter(({ sql: text }) => CHANGES.test(text) || called.some((name) => text.includes(name.split('.').at(-1) ?? name)))
      .map(({ sql: text, parameters }) => ({
        text: text.replace(/\s*\n\s*/g, '\n'),
        parameters: parameters.map((value) => (value === null ? 'NULL' : String(value))),
      }))
      .filter((statement) => !seen.has(JSON.stringify(statement)) && seen.add(JSON.stringify(statement)));
  }
}
