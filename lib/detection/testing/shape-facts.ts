/** The tables of the libraries and designs that the built-in shapes are for: column names and types, as facts. */
import type { EngineKey } from '@/lib/shared/model';

export interface TableFact {
  /** Schema, or database, it is made in: one per shape, as several libraries use the same table name. */
  schema: string;
  table: string;
  /** `name type`, comma after comma; types are PostgreSQL's, a blank inside one written as `_`. The first column is the key. */
  columns: string;
}

export interface ShapeFact extends TableFact {
  shape: string;
  engines: readonly EngineKey[];
  /** Tables that stand beside it. */
  beside: readonly TableFact[];
}

function fact(
  shape: string,
  schema: string,
  table: string,
  engines: readonly EngineKey[],
  columns: string,
  beside: Record<string, string> = {},
): ShapeFact {
  return {
    shape,
    schema,
    table,
    engines,
    columns,
    beside: Object.entries(beside).map(([name, own]) => ({ schema, table: name, columns: own === 'same' ? columns : own })),
  };
}

export const SHAPE_FACTS: readonly ShapeFact[] = [
  fact(
    'debezium-outbox',
    'debezium_outbox',
    'outboxevent',
    ['postgres', 'mysql'],
    `id uuid, aggregatetype varchar(255), aggregateid varchar(255), type varchar(255), payload jsonb`,
  ),
  fact(
    'debezium-quarkus-outbox',
    'debezium_quarkus_outbox',
    'OutboxEvent',
    ['postgres', 'mysql'],
    `id uuid, aggregatetype varchar(255), aggregateid varchar(255), type varchar(255), timestamp timestamp, payload varchar(8000), tracingspancontext varchar(256)`,
  ),
  fact(
    'masstransit-outboxmessage',
    'masstransit_outboxmessage',
    'OutboxMessage',
    ['postgres', 'mysql'],
    `SequenceNumber bigint, MessageId uuid, EnqueueTime timestamptz, SentTime timestamptz, Headers text, Properties text, InboxMessageId uuid, InboxConsumerId uuid, OutboxId uuid, ContentType varchar(256), MessageType text, Body text, ConversationId uuid, CorrelationId uuid, InitiatorId uuid, RequestId uuid, SourceAddress varchar(256), DestinationAddress varchar(256), ResponseAddress varchar(256), FaultAddress varchar(256), ExpirationTime timestamptz`,
  ),
  fact(
    'masstransit-outboxstate',
    'masstransit_outboxstate',
    'OutboxState',
    ['postgres', 'mysql'],
    `OutboxId uuid, LockId uuid, RowVersion bytea, Created timestamptz, Delivered timestamptz, LastSequenceNumber bigint`,
  ),
  fact(
    'masstransit-inboxstate',
    'masstransit_inboxstate',
    'InboxState',
    ['postgres', 'mysql'],
    `Id bigint, MessageId uuid, ConsumerId uuid, LockId uuid, RowVersion bytea, Received timestamptz, ReceiveCount int, ExpirationTime timestamptz, Consumed timestamptz, Delivered timestamptz, LastSequenceNumber bigint`,
  ),
  fact(
    'nservicebus-outboxdata',
    'nservicebus_outboxdata',
    'Shipping_OutboxData',
    ['postgres', 'mysql'],
    `MessageId varchar(200), Dispatched boolean, DispatchedAt timestamp, PersistenceVersion varchar(23), Operations jsonb`,
  ),
  fact(
    'wolverine-outgoing',
    'wolverine_outgoing',
    'wolverine_outgoing_envelopes',
    ['postgres', 'mysql'],
    `id uuid, owner_id int, destination text, deliver_by timestamptz, body bytea, attempts int, message_type text, timestamp timestamptz`,
    {
      wolverine_nodes: 'id uuid, node_number int, description text, uri text, started timestamptz, health_check timestamptz',
      wolverine_node_assignments: 'id text, node_id uuid, started timestamptz',
    },
  ),
  fact(
    'wolverine-incoming',
    'wolverine_incoming',
    'wolverine_incoming_envelopes',
    ['postgres', 'mysql'],
    `id uuid, status text, owner_id int, execution_time timestamptz, attempts int, body bytea, message_type text, received_at text, keep_until timestamptz, timestamp timestamptz`,
  ),
  fact(
    'wolverine-dead-letters',
    'wolverine_dead_letters',
    'wolverine_dead_letters',
    ['postgres', 'mysql'],
    `id uuid, execution_time timestamptz, body bytea, message_type text, received_at text, source text, exception_type text, exception_message text, sent_at timestamptz, replayable boolean, expires timestamptz`,
  ),
  fact(
    'cap-published-pg',
    'cap',
    'published',
    ['postgres'],
    `Id bigint, Version varchar(20), Name varchar(200), Content text, Retries int, Added timestamp, ExpiresAt timestamp, StatusName varchar(50)`,
  ),
  fact(
    'cap-published-mysql',
    'cap_published_mysql',
    'cap.published',
    ['mysql'],
    `Id bigint, Version varchar(20), Name varchar(200), Content text, Retries int, Added timestamp, ExpiresAt timestamp, StatusName varchar(40)`,
  ),
  fact(
    'cap-received',
    'cap',
    'received',
    ['postgres', 'mysql'],
    `Id bigint, Version varchar(20), Name varchar(200), Group varchar(200), Content text, Retries int, Added timestamp, ExpiresAt timestamp, StatusName varchar(50)`,
  ),
  fact(
    'brighter-outbox-pg',
    'brighter_outbox_pg',
    'outbox',
    ['postgres'],
    `id bigint, messageid varchar(255), topic varchar(255), messagetype varchar(32), timestamp timestamptz, correlationid varchar(255), replyto varchar(255), contenttype varchar(128), partitionkey varchar(128), workflowid varchar(255), jobid varchar(255), dispatched timestamptz, headerbag text, body text, source varchar(255), type varchar(255), dataschema varchar(255), subject varchar(255), traceparent varchar(255), tracestate varchar(255), baggage text, dataref varchar(255), causationid varchar(255), specversion varchar(255)`,
  ),
  fact(
    'brighter-outbox-mysql',
    'brighter_outbox_mysql',
    'Outbox',
    ['mysql'],
    `MessageId varchar(255), Topic varchar(255), MessageType varchar(32), Timestamp timestamp(3), Dispatched timestamp(3), HeaderBag text, Body text, Created timestamp(3), CreatedID int, CausationId varchar(255), TraceParent varchar(255), PartitionKey varchar(128)`,
  ),
  fact(
    'spring-modulith-v1',
    'spring_modulith_v1',
    'event_publication',
    ['postgres', 'mysql'],
    `id uuid, listener_id text, event_type text, serialized_event text, publication_date timestamptz, completion_date timestamptz`,
    { event_publication_archive: 'same' },
  ),
  fact(
    'spring-modulith-v2',
    'spring_modulith_v2',
    'event_publication',
    ['postgres', 'mysql'],
    `id uuid, listener_id text, event_type text, serialized_event text, publication_date timestamptz, completion_date timestamptz, status text, completion_attempts int, last_resubmission_date timestamptz`,
    { event_publication_archive: 'same' },
  ),
  fact(
    'eventuate-tram-message',
    'eventuate',
    'message',
    ['postgres', 'mysql'],
    `id varchar(1000), destination text, headers text, payload text, published smallint, message_partition smallint, creation_time bigint`,
    {
      received_messages: 'consumer_id varchar(255), message_id varchar(255), creation_time bigint, published smallint',
      offset_store: 'client_name varchar(255), serialized_offset text',
      cdc_monitoring: 'reader_id varchar(255), last_time bigint',
    },
  ),
  fact(
    'eventuate-tram-message-dbid',
    'eventuate_tram_message_dbid',
    'message',
    ['postgres', 'mysql'],
    `dbid bigint, id varchar(1000), destination text, headers text, payload text, published smallint, message_partition smallint, creation_time bigint`,
  ),
  fact(
    'gruelbox-txno-outbox-pg',
    'gruelbox_txno_outbox_pg',
    'txno_outbox',
    ['postgres'],
    `id varchar(36), invocation text, nextattempttime timestamp(6), attempts int, blocked boolean, version int, uniquerequestid varchar(250), processed boolean, lastattempttime timestamp(6), topic varchar(250), seq bigint`,
    { txno_version: 'id int, version int', txno_sequence: 'topic varchar(250), seq bigint' },
  ),
  fact(
    'gruelbox-txno-outbox-mysql',
    'gruelbox_txno_outbox_mysql',
    'TXNO_OUTBOX',
    ['mysql'],
    `id varchar(36), invocation text, nextAttemptTime timestamp(6), attempts int, blocked varchar(250), version int, uniqueRequestId varchar(250), processed boolean, lastAttemptTime timestamp(6), topic varchar(250), seq bigint`,
  ),
  fact(
    'namastack-outbox-record',
    'namastack_outbox_record',
    'outbox_record',
    ['postgres', 'mysql'],
    `id varchar(255), status varchar(20), record_key varchar(255), record_type varchar(255), payload text, context text, created_at timestamptz, completed_at timestamptz, failure_count int, failure_reason varchar(1000), next_retry_at timestamptz, partition_no int, handler_id varchar(1000)`,
    {
      outbox_instance:
        'instance_id varchar(255), hostname varchar(255), port int, status varchar(50), started_at timestamptz, last_heartbeat timestamptz, created_at timestamptz, updated_at timestamptz',
      outbox_partition: 'partition_number int, instance_id varchar(255), version bigint, updated_at timestamptz',
    },
  ),
  fact(
    'axon-dead-letter-jpa',
    'axon_dead_letter_jpa',
    'dead_letter_entry',
    ['postgres', 'mysql'],
    `dead_letter_id varchar(255), processing_group varchar(255), sequence_identifier varchar(255), sequence_index bigint, message_type varchar(255), event_identifier varchar(255), time_stamp varchar(255), payload_type varchar(255), payload_revision varchar(255), payload bytea, meta_data bytea, type varchar(255), aggregate_identifier varchar(255), sequence_number bigint, token_type varchar(255), token bytea, enqueued_at timestamp, last_touched timestamp, processing_started timestamp, cause_type varchar(255), cause_message text, diagnostics bytea`,
  ),
  fact(
    'axon-dead-letter-jdbc',
    'axon_dead_letter_jdbc',
    'deadletterentry',
    ['postgres', 'mysql'],
    `deadLetterIdentifier varchar(255), processingGroup varchar(255), sequenceIdentifier varchar(255), sequenceIndex bigint, messageType varchar(255), eventIdentifier varchar(255), timeStamp varchar(255), payloadType varchar(255), payloadRevision varchar(255), payload bytea, metaData bytea, type varchar(255), aggregateIdentifier varchar(255), sequenceNumber bigint, tokenType varchar(255), token bytea, enqueuedAt varchar(255), lastTouched varchar(255), processingStarted varchar(255), causeType varchar(255), causeMessage varchar(255), diagnostics bytea`,
  ),
  fact(
    'watermill-pg',
    'watermill_pg',
    'watermill_orders',
    ['postgres'],
    `offset bigint, uuid varchar(36), created_at timestamp, payload json, metadata json, transaction_id xid8`,
    { watermill_offsets_orders: 'consumer_group text, offset_acked bigint, last_processed_transaction_id xid8' },
  ),
  fact(
    'watermill-mysql',
    'watermill_mysql',
    'watermill_orders',
    ['mysql'],
    `offset bigint, uuid varchar(36), created_at timestamp, payload json, metadata json`,
    { watermill_offsets_orders: 'consumer_group varchar(255), offset_acked bigint, offset_consumed bigint' },
  ),
  fact(
    'watermill-queue',
    'watermill_queue',
    'watermill_orders_queue',
    ['postgres', 'mysql'],
    `offset int, uuid varchar(36), payload json, metadata json, acked boolean, created_at timestamptz`,
  ),
  fact(
    'pg-transactional-outbox',
    'pg_transactional_outbox',
    'outbox',
    ['postgres'],
    `id uuid, aggregate_type text, aggregate_id text, message_type text, segment text, concurrency text, payload jsonb, metadata jsonb, locked_until timestamptz, created_at timestamptz, processed_at timestamptz, abandoned_at timestamptz, started_attempts smallint, finished_attempts smallint`,
    { inbox: 'same' },
  ),
  fact(
    'nestjs-outbox-pg',
    'nest_outbox',
    'messages',
    ['postgres'],
    `seq bigint, id text, topic text, payload jsonb, headers jsonb, key text, created_at bigint, available_at bigint, attempts int, last_error text, history jsonb, lease_owner text, lease_until bigint`,
  ),
  fact(
    'nestjs-outbox-dead-letters',
    'nestjs_outbox_dead_letters',
    'dead_letters',
    ['postgres', 'mysql'],
    `id text, seq bigint, topic text, payload jsonb, headers jsonb, key text, created_at bigint, attempts int, last_error text, history jsonb, reason text, failed_at bigint`,
  ),
  fact(
    'nestjs-outbox-mysql',
    'nestjs_outbox_mysql',
    'nest_outbox_messages',
    ['mysql'],
    `seq bigint, id varchar(255), topic varchar(255), payload json, headers json, key varchar(255), created_at bigint, available_at bigint, attempts int, last_error text, history json, lease_owner varchar(255), lease_until bigint`,
  ),
  fact(
    'eventferry-pg',
    'eventferry_pg',
    'outbox',
    ['postgres'],
    `id bigint, message_id uuid, aggregate_type varchar(255), aggregate_id varchar(255), topic varchar(255), key text, payload jsonb, headers jsonb, trace_id varchar(64), status smallint, attempts int, next_retry_at timestamptz, claimed_at timestamptz, created_at timestamptz, processed_at timestamptz`,
  ),
  fact(
    'eventferry-mysql',
    'eventferry_mysql',
    'outbox',
    ['mysql'],
    `id bigint, message_id char(36), aggregate_type varchar(255), aggregate_id varchar(255), topic varchar(255), key text, payload json, headers json, trace_id varchar(64), status smallint, attempts int, next_retry_at timestamp(3), claimed_at timestamp(3), created_at timestamp(3), processed_at timestamp(3)`,
  ),
  fact(
    'outbox-event-bus-pg',
    'outbox_event_bus_pg',
    'outbox_events',
    ['postgres'],
    `id uuid, type text, payload jsonb, occurred_at timestamp, status text, retry_count int, last_error text, next_retry_at timestamp, created_on timestamp, started_on timestamp, completed_on timestamp, keep_alive timestamp, expire_in_seconds int`,
    { outbox_events_archive: 'same' },
  ),
  fact(
    'pg-boss-v10',
    'pgboss',
    'job',
    ['postgres'],
    `id uuid, name text, priority int, data jsonb, state enum:job_state, retry_limit int, retry_count int, retry_delay int, retry_backoff boolean, start_after timestamptz, started_on timestamptz, singleton_key text, singleton_on timestamp, created_on timestamptz, completed_on timestamptz, keep_until timestamptz, output jsonb, dead_letter text, policy text, expire_in interval`,
    {
      archive: 'same',
      queue: 'name text, policy text, retry_limit int, dead_letter text, created_on timestamptz',
      version: 'version int, cron_on timestamptz',
      schedule: 'name text, cron text, timezone text, data jsonb, options jsonb, created_on timestamptz',
    },
  ),
  fact(
    'pg-boss-v12',
    'pgboss_twelve',
    'job',
    ['postgres'],
    `id uuid, name text, priority int, data jsonb, state enum:job_state, retry_limit int, retry_count int, retry_delay int, retry_backoff boolean, start_after timestamptz, started_on timestamptz, singleton_key text, singleton_on timestamp, created_on timestamptz, completed_on timestamptz, keep_until timestamptz, output jsonb, dead_letter text, policy text, retry_delay_max int, expire_seconds int, deletion_seconds int, group_id text, group_tier text, heartbeat_on timestamptz, heartbeat_seconds int`,
    {
      queue: 'name text, policy text, retry_limit int, expire_seconds int, dead_letter text',
      version: 'version int, cron_on timestamptz',
      schedule: 'name text, key text, cron text, timezone text, data jsonb, options jsonb',
    },
  ),
  fact(
    'graphile-worker',
    'graphile_worker',
    '_private_jobs',
    ['postgres'],
    `id bigint, job_queue_id int, task_id int, payload json, priority smallint, run_at timestamptz, attempts smallint, max_attempts smallint, last_error text, created_at timestamptz, updated_at timestamptz, key text, locked_at timestamptz, locked_by text, revision int, flags jsonb, is_available boolean`,
    {
      _private_tasks: 'id int, identifier text',
      _private_job_queues: 'id int, queue_name text, locked_at timestamptz, locked_by text, is_available boolean',
      migrations: 'id int, ts timestamptz',
      _private_known_crontabs: 'identifier text, known_since timestamptz, last_execution timestamptz',
    },
  ),
  fact(
    'river-job',
    'river_job',
    'river_job',
    ['postgres'],
    `id bigint, state enum:river_job_state, attempt smallint, max_attempts smallint, attempted_at timestamptz, created_at timestamptz, finalized_at timestamptz, scheduled_at timestamptz, priority smallint, args jsonb, attempted_by text[], errors jsonb[], kind text, metadata jsonb, queue text, tags text[], unique_key bytea, unique_states bit(8)`,
    {
      river_queue: 'name text, created_at timestamptz, metadata jsonb, paused_at timestamptz, updated_at timestamptz',
      river_leader: 'name text, elected_at timestamptz, expires_at timestamptz, leader_id text',
      river_migration: 'version bigint, created_at timestamptz, line text',
    },
  ),
  fact(
    'oban-pg',
    'oban_pg',
    'oban_jobs',
    ['postgres'],
    `id bigint, state enum:oban_job_state, queue text, worker text, args jsonb, errors jsonb[], attempt int, max_attempts int, inserted_at timestamp, scheduled_at timestamp, attempted_at timestamp, completed_at timestamp, attempted_by text[], discarded_at timestamp, cancelled_at timestamp, priority int, tags text[], meta jsonb`,
    { oban_peers: 'name text, node text, started_at timestamp, expires_at timestamp' },
  ),
  fact(
    'oban-mysql',
    'oban_mysql',
    'oban_jobs',
    ['mysql'],
    `id bigint, state text, queue varchar(255), worker varchar(255), args json, meta json, tags json, attempted_by json, errors json, attempt int, max_attempts int, priority int, inserted_at timestamp(6), scheduled_at timestamp(6), attempted_at timestamp(6), cancelled_at timestamp(6), completed_at timestamp(6), discarded_at timestamp(6)`,
  ),
  fact(
    'outboxer-messages',
    'outboxer_messages',
    'outboxer_messages',
    ['postgres', 'mysql'],
    `id bigint, lock_version int, status varchar(255), messageable_id varchar(255), messageable_type varchar(255), updated_at timestamp(6), queued_at timestamp(6), publishing_at timestamp(6), published_at timestamp(6), failed_at timestamp(6), publisher_id bigint, publisher_name varchar(263)`,
    {
      outboxer_exceptions: 'id bigint, message_id bigint, class_name text, message_text text, created_at timestamp',
      outboxer_publishers: 'id bigint, name text, status text, settings jsonb, metrics jsonb, created_at timestamp, updated_at timestamp',
    },
  ),
  fact(
    'sbmt-outbox',
    'sbmt_outbox',
    'order_outbox_items',
    ['postgres', 'mysql'],
    `id bigint, uuid uuid, event_name text, event_key text, bucket int, status int, options jsonb, payload bytea, errors_count int, error_log text, processed_at timestamp, created_at timestamp, updated_at timestamp`,
  ),
  fact(
    'django-outbox-pattern',
    'django_outbox_pattern',
    'published',
    ['postgres'],
    `id uuid, version varchar(100), destination varchar(255), body jsonb, added timestamptz, expires_at timestamptz, retry int, status int, headers jsonb`,
  ),
  fact(
    'silverback-outbox-pg',
    'silverback_outbox_pg',
    'SilverbackOutbox',
    ['postgres'],
    `id int, content bytea, headers text, endpointname text, created timestamptz`,
  ),
  fact(
    'silverback-outbox-ef',
    'silverback_outbox_ef',
    'SilverbackOutboxMessages',
    ['postgres', 'mysql'],
    `Id bigint, Content bytea, Headers varchar(1000), EndpointName varchar(500), DynamicEndpoint varchar(1000), Created timestamptz`,
  ),
  fact(
    'rebus-outbox-pg',
    'rebus_outbox_pg',
    'outbox',
    ['postgres'],
    `Id bigint, CorrelationId varchar(16), MessageId varchar(255), SourceQueue varchar(255), DestinationAddress varchar(255), Headers text, Body bytea, Sent boolean`,
  ),
  fact(
    'opensleigh-outbox',
    'opensleigh_outbox',
    'OutboxMessages',
    ['postgres'],
    `MessageId text, LockId text, LockTime timestamptz, CorrelationId text, Body bytea, MessageType text, CreatedAt timestamptz, ParentId text, SenderId text`,
  ),
  fact(
    'rust-puerto-outbox',
    'rust_puerto_outbox',
    'outbox',
    ['postgres'],
    `id uuid, seq bigint, aggregate_type text, aggregate_id uuid, event_type text, schema_version int, payload jsonb, headers jsonb, occurred_at timestamptz, published_at timestamptz`,
    {
      event_deliveries:
        'event_id uuid, consumer text, status text, attempts int, next_attempt_at timestamptz, last_error text, delivered_at timestamptz',
      dead_letters: 'event_id uuid, consumer text, error text, payload jsonb, created_at timestamptz',
    },
  ),
  fact(
    'escrow-status',
    'p2p',
    'transaction_outbox',
    ['postgres'],
    `id uuid, idempotency_key text, transaction_type text, transaction_ref_id text, status text, payload jsonb, create_time timestamptz, processed_time timestamptz, last_attempt_time timestamptz, retry_count int, error_message text`,
  ),
  fact(
    'worker-status',
    'worker_status',
    'outbox_events',
    ['mysql'],
    `id bigint, event_type varchar(64), payload text, created_at timestamp, processed_at timestamp, status varchar(16)`,
  ),
  fact(
    'published-at',
    'published_at',
    'outbox_events',
    ['postgres'],
    `id uuid, aggregate_type text, aggregate_id text, event_type text, payload jsonb, headers jsonb, dedup_key text, created_at timestamptz, published_at timestamptz, attempt smallint`,
    {
      outbox_dead:
        'id uuid, aggregate_type text, aggregate_id text, event_type text, payload jsonb, headers jsonb, dedup_key text, created_at timestamptz, attempt smallint, last_error text, died_at timestamptz',
    },
  ),
  fact(
    'courier-status',
    'courier_status',
    'outbox',
    ['postgres'],
    `id uuid, event_type varchar(255), payload jsonb, status varchar(50), created_at timestamp`,
  ),
  fact(
    'listen-notify',
    'listen_notify',
    'outbox',
    ['postgres'],
    `id uuid, aggregate_type varchar(100), aggregate_id varchar(100), event_type varchar(100), payload jsonb, created_at timestamptz, processed_at timestamptz, retry_count int, last_error text`,
  ),
];
