// Written by proven-tables.db.test.ts from the samples of the shapes. Do not edit.
import type { EngineKey } from '@/lib/shared/model';
import type { ProvenTable } from './proof-facts';

/** By shape and engine: the tables its operations are tested on. */
export const PROVEN_TABLES: Record<string, Partial<Record<EngineKey, { main: ProvenTable; dead: ProvenTable | null }>>> = {
  'courier-status': {
    postgres: {
      main: { columns: { id: 'uuid', event_type: 'text', payload: 'json', status: 'text', created_at: 'wall_clock' }, triggers: [] },
      dead: null,
    },
  },
  'escrow-status': {
    postgres: {
      main: {
        columns: {
          id: 'uuid',
          idempotency_key: 'text',
          transaction_type: 'text',
          transaction_ref_id: 'text',
          status: 'text',
          payload: 'json',
          create_time: 'instant',
          processed_time: 'instant',
          last_attempt_time: 'instant',
          retry_count: 'integer',
          error_message: 'text',
        },
        triggers: [],
      },
      dead: null,
    },
  },
  'listen-notify': {
    postgres: {
      main: {
        columns: {
          id: 'uuid',
          aggregate_type: 'text',
          aggregate_id: 'text',
          event_type: 'text',
          payload: 'json',
          created_at: 'instant',
          processed_at: 'instant',
          retry_count: 'integer',
          last_error: 'text',
        },
        triggers: [],
      },
      dead: {
        columns: {
          id: 'uuid',
          aggregate_type: 'text',
          aggregate_id: 'text',
          event_type: 'text',
          payload: 'json',
          created_at: 'instant',
          processed_at: 'instant',
          retry_count: 'integer',
          last_error: 'text',
          died_at: 'instant',
        },
        triggers: [],
      },
    },
  },
  'published-at': {
    postgres: {
      main: {
        columns: {
          id: 'uuid',
          aggregate_type: 'text',
          aggregate_id: 'text',
          event_type: 'text',
          payload: 'json',
          headers: 'json',
          dedup_key: 'text',
          created_at: 'instant',
          published_at: 'instant',
          attempt: 'integer',
        },
        triggers: [],
      },
      dead: {
        columns: {
          id: 'uuid',
          aggregate_type: 'text',
          aggregate_id: 'text',
          event_type: 'text',
          payload: 'json',
          headers: 'json',
          dedup_key: 'text',
          created_at: 'instant',
          published_at: 'instant',
          attempt: 'integer',
          died_at: 'instant',
          last_error: 'text',
        },
        triggers: [],
      },
    },
  },
  'worker-status': {
    mysql: {
      main: {
        columns: {
          id: 'integer',
          event_type: 'text',
          payload: 'text',
          created_at: 'wall_clock',
          processed_at: 'wall_clock',
          status: 'text',
          updated_at: 'wall_clock',
        },
        triggers: [],
      },
      dead: null,
    },
    postgres: {
      main: {
        columns: {
          id: 'integer',
          event_type: 'text',
          payload: 'text',
          created_at: 'wall_clock',
          processed_at: 'wall_clock',
          status: 'text',
          updated_at: 'wall_clock',
        },
        triggers: [],
      },
      dead: null,
    },
  },
};
