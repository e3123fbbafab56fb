/** What operations write, row by row, for the shapes of Go, Node, Python, Ruby, Rust and Elixir; see testing-changes.ts. */
import type { OutboxSettings } from '@/lib/outbox/outbox';
import { sampleId } from '@/lib/shape/catalog/parts/sample-rows';
import { IN_A_DAY, moved, NOW, type Change } from './testing-changes';

type Changes = Record<string, Record<string, Change>>;

const UNLOCKED = '1970-01-01T00:00:00+00:00';
const mail = (n: number): string => `mail~${sampleId(n)}`;

const PG_BOSS: Changes = {
  // The others are due: there is nothing to bring forward.
  retry: {
    [mail(2)]: { start_after: NOW },
    [mail(6)]: { state: 'retry', retry_limit: '3', completed_on: null, start_after: NOW },
    [mail(8)]: { state: 'created', completed_on: null },
  },
  requeue: {
    [mail(3)]: { state: 'created', retry_count: '0', started_on: null, start_after: NOW, output: null },
    [mail(6)]: { state: 'created', retry_count: '0', started_on: null, completed_on: null, start_after: NOW, output: null },
  },
  archive: moved(mail(1), mail(2), mail(3), mail(6), mail(8), `a%7Eb%25~${sampleId(7)}`),
};

const RIVER: Changes = {
  retry: {
    '2': { state: 'available', scheduled_at: NOW },
    '3': { state: 'available', scheduled_at: NOW },
    '7': { state: 'available', scheduled_at: NOW, max_attempts: '4', finalized_at: null },
    '8': { state: 'available', scheduled_at: NOW, finalized_at: null },
  },
  requeue: {
    '3': { state: 'available', scheduled_at: NOW, attempt: '0' },
    '4': { scheduled_at: NOW, attempt: '0' },
    '7': { state: 'available', scheduled_at: NOW, attempt: '0', finalized_at: null },
    '8': { state: 'available', scheduled_at: NOW, finalized_at: null },
  },
  archive: moved(1, 2, 3, 4, 7, 8),
};

const OBAN: Changes = {
  retry: {
    '2': { state: 'available', scheduled_at: NOW },
    '3': { state: 'available', scheduled_at: NOW },
    '7': { state: 'available', scheduled_at: NOW, max_attempts: '4', discarded_at: null },
    '8': { state: 'available', scheduled_at: NOW, cancelled_at: null },
  },
  requeue: {
    '3': { state: 'available', scheduled_at: NOW, attempt: '0' },
    '4': { scheduled_at: NOW, attempt: '0' },
    '7': { state: 'available', scheduled_at: NOW, attempt: '0', discarded_at: null },
    '8': { state: 'available', scheduled_at: NOW, cancelled_at: null },
  },
  release: { '5': { state: 'available' } },
  archive: moved(1, 2, 3, 4, 7, 8),
};

const FRESH_LETTER: Change = { attempts: '0', available_at: NOW, lease_owner: null, lease_until: null };
const NESTJS: Changes = {
  retry: { [sampleId(2)]: { available_at: NOW }, [sampleId(3)]: { available_at: NOW } },
  requeue: {
    [sampleId(3)]: { attempts: '0', available_at: NOW, last_error: null },
    [sampleId(7)]: { attempts: '0', available_at: NOW },
    [sampleId(5)]: FRESH_LETTER,
    'not a uuid': FRESH_LETTER,
  },
  archive: moved(sampleId(1), sampleId(2), sampleId(3), sampleId(7), sampleId(5), 'not a uuid'),
};

const EVENTFERRY: Changes = {
  retry: { '4': { next_retry_at: NOW } },
  requeue: {
    '2': { status: '0', attempts: '0', claimed_at: null },
    '4': { status: '0', attempts: '0', next_retry_at: null },
    '7': { status: '0', attempts: '0' },
  },
  archive: moved(2, 4, 6, 7),
};

const OUTBOXER_QUEUED: Changes[string] = {
  '4': { lock_version: '3', status: 'queued', queued_at: NOW, updated_at: NOW, failed_at: null },
  '6': { lock_version: '1', status: 'queued', queued_at: NOW, updated_at: NOW },
};

/** By shape, operation and event id. */
export const MORE_CHANGES: Record<string, Changes> = {
  'django-outbox-pattern': {
    requeue: {
      [sampleId(3)]: { status: '1', retry: '0', expires_at: IN_A_DAY },
      [sampleId(4)]: { expires_at: IN_A_DAY },
      [sampleId(5)]: { status: '1', retry: '0', expires_at: IN_A_DAY },
    },
    archive: moved(sampleId(1), sampleId(3), sampleId(4), sampleId(5)),
  },
  'eventferry-mysql': EVENTFERRY,
  'eventferry-pg': EVENTFERRY,
  'graphile-worker': {
    retry: {
      '2': { run_at: NOW, updated_at: NOW },
      '4': { attempts: '2', run_at: NOW, updated_at: NOW, is_available: 'true' },
      '6': { run_at: NOW, updated_at: NOW },
      // Its lock has lapsed and still stands: the library takes it away before it takes the job.
      '7': { attempts: '2', run_at: NOW, updated_at: NOW },
      '8': { run_at: NOW, updated_at: NOW },
    },
    requeue: {
      '2': { attempts: '0', run_at: NOW, updated_at: NOW },
      '4': { attempts: '0', run_at: NOW, updated_at: NOW, is_available: 'true' },
      '6': { attempts: '0', run_at: NOW, updated_at: NOW },
      '7': { attempts: '0', run_at: NOW, updated_at: NOW },
    },
    archive: moved(1, 2, 4, 6, 7, 8),
  },
  'nestjs-outbox-dead-letters': { archive: moved(...[1, 2, 3, 5, 6].map(sampleId), 'not a uuid') },
  'nestjs-outbox-mysql': NESTJS,
  'nestjs-outbox-pg': NESTJS,
  'oban-mysql': OBAN,
  'oban-pg': OBAN,
  'outbox-event-bus-pg': {
    retry: {
      [sampleId(2)]: { next_retry_at: NOW },
      [sampleId(3)]: { retry_count: '4', next_retry_at: NOW },
      [sampleId(6)]: { retry_count: '4', next_retry_at: NOW },
    },
    requeue: {
      [sampleId(2)]: { status: 'created', retry_count: '0', next_retry_at: null, last_error: null },
      [sampleId(3)]: { status: 'created', retry_count: '0', last_error: null },
      [sampleId(6)]: { status: 'created', retry_count: '0' },
    },
    archive: moved(...[1, 2, 3, 6].map(sampleId)),
  },
  'outboxer-messages': {
    retry: OUTBOXER_QUEUED,
    requeue: OUTBOXER_QUEUED,
    release: {
      '2': { lock_version: '2', status: 'queued', updated_at: NOW, publishing_at: null, publisher_id: null, publisher_name: null },
    },
    archive: moved(1, 4, 5, 6),
  },
  'pg-boss-v10': PG_BOSS,
  'pg-boss-v12': PG_BOSS,
  'pg-transactional-outbox': {
    retry: { [sampleId(5)]: { abandoned_at: null, locked_until: UNLOCKED, started_attempts: '4', finished_attempts: '4' } },
    requeue: {
      [sampleId(2)]: { locked_until: UNLOCKED, started_attempts: '0', finished_attempts: '0' },
      [sampleId(5)]: { abandoned_at: null, locked_until: UNLOCKED, started_attempts: '0', finished_attempts: '0' },
      [sampleId(6)]: { locked_until: UNLOCKED, started_attempts: '0' },
    },
    archive: moved(...[1, 2, 5, 6].map(sampleId)),
  },
  'river-job': RIVER,
  'rust-puerto-outbox': {},
  'sbmt-outbox': {
    retry: {
      '2': { processed_at: null },
      '3': { status: '0', errors_count: '0', processed_at: null },
      '7': { status: '0' },
    },
    requeue: {
      '2': { errors_count: '0', error_log: null, processed_at: null },
      '3': { status: '0', errors_count: '0', error_log: null, processed_at: null },
      '7': { status: '0' },
    },
    archive: moved(1, 2, 3, 6, 7),
  },
  'watermill-mysql': {},
  'watermill-pg': {},
  'watermill-queue': { archive: moved(3, 4, 6) },
};

/** What the configuration has to say before a shape offers these. */
export const SETTINGS: Record<string, OutboxSettings['parameters']> = {
  'eventferry-mysql': { extra: { relay: 'polling' } },
  'pg-transactional-outbox': { extra: { listener: 'polling' } },
};
