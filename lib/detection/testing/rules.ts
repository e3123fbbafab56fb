/** Recognition rules for shapes that have none of their own yet. */
import type { EngineKey } from '@/lib/shared/model';
import type { ShapeSignature } from '../signature';

interface Rule {
  names: string[];
  pattern: string | null;
  schema: string | null;
  have: string;
  without: string;
  only: string;
  beside: string;
  underscoreless?: boolean;
}

const list = (text: string): string[] => text.split(' ').filter((word) => word !== '');

function rule(
  key: string,
  engines: EngineKey[],
  { names, pattern, schema, have, without, only, beside, underscoreless }: Rule,
): ShapeSignature {
  return {
    key,
    label: key,
    family: 'outbox',
    engines,
    schema,
    names,
    pattern,
    mustHave: list(have),
    mustNotHave: list(without),
    signature: list(only),
    types: {},
    companions: list(beside).map((name) => ({ name, purpose: 'other' as const })),
    underscoreless: underscoreless ?? false,
    assumed: [],
  };
}

// prettier-ignore
export const RULES: readonly ShapeSignature[] = [
  rule('debezium-outbox', ['postgres', 'mysql'], { names: ['outboxevent', 'outbox_event', 'outbox'], pattern: null, schema: null, have: 'id aggregatetype aggregateid type payload', without: 'status processed_at published_at processed published attempts retry_count times_attempted', only: '', beside: '' }),
  rule('debezium-quarkus-outbox', ['postgres', 'mysql'], { names: ['outboxevent', 'outbox_event'], pattern: null, schema: null, have: 'id aggregatetype aggregateid type timestamp payload', without: 'status processed_at published_at processed attempts', only: '', beside: '' }),
  rule('masstransit-outboxmessage', ['postgres', 'mysql'], { names: ['outboxmessage', 'outbox_message'], pattern: null, schema: null, have: 'SequenceNumber MessageId InboxMessageId InboxConsumerId OutboxId DestinationAddress Body', without: '', only: 'inboxconsumerid outboxid sequencenumber', beside: 'OutboxState InboxState', underscoreless: true }),
  rule('masstransit-outboxstate', ['postgres', 'mysql'], { names: ['outboxstate', 'outbox_state'], pattern: null, schema: null, have: 'OutboxId LockId Created Delivered LastSequenceNumber', without: '', only: 'outboxid lastsequencenumber', beside: 'OutboxMessage', underscoreless: true }),
  rule('masstransit-inboxstate', ['postgres', 'mysql'], { names: ['inboxstate', 'inbox_state'], pattern: null, schema: null, have: 'MessageId ConsumerId LockId Received ReceiveCount Consumed Delivered', without: '', only: 'consumerid receivecount lastsequencenumber', beside: 'OutboxMessage', underscoreless: true }),
  rule('nservicebus-outboxdata', ['postgres', 'mysql'], { names: [], pattern: 'outboxdata$', schema: null, have: 'MessageId Dispatched DispatchedAt PersistenceVersion Operations', without: '', only: 'persistenceversion dispatchedat', beside: '', underscoreless: true }),
  rule('wolverine-outgoing', ['postgres', 'mysql'], { names: ['wolverine_outgoing_envelopes'], pattern: null, schema: null, have: 'id owner_id destination deliver_by body attempts message_type', without: '', only: 'owner_id deliver_by', beside: 'wolverine_incoming_envelopes wolverine_dead_letters wolverine_nodes' }),
  rule('wolverine-incoming', ['postgres', 'mysql'], { names: ['wolverine_incoming_envelopes'], pattern: null, schema: null, have: 'id status owner_id execution_time body message_type received_at keep_until', without: '', only: 'owner_id keep_until', beside: 'wolverine_outgoing_envelopes' }),
  rule('wolverine-dead-letters', ['postgres', 'mysql'], { names: ['wolverine_dead_letters'], pattern: null, schema: null, have: 'id body message_type received_at exception_type exception_message sent_at replayable', without: '', only: 'exception_type replayable', beside: 'wolverine_incoming_envelopes' }),
  rule('cap-published-pg', ['postgres'], { names: ['published'], pattern: null, schema: null, have: 'Id Version Name Content Retries Added ExpiresAt StatusName', without: 'Group', only: 'statusname expiresat', beside: 'received' }),
  rule('cap-published-mysql', ['mysql'], { names: ['cap.published'], pattern: '\\.published$', schema: null, have: 'Id Version Name Content Retries Added ExpiresAt StatusName', without: 'Group', only: 'statusname expiresat', beside: 'cap.received' }),
  rule('cap-received', ['postgres', 'mysql'], { names: ['received', 'cap.received'], pattern: '\\.received$', schema: null, have: 'Id Version Name Group Content Retries Added ExpiresAt StatusName', without: '', only: 'statusname expiresat', beside: 'published' }),
  rule('brighter-outbox-pg', ['postgres'], { names: ['outbox'], pattern: null, schema: null, have: 'messageid topic messagetype timestamp headerbag body dispatched', without: 'createdid', only: 'headerbag', beside: '' }),
  rule('brighter-outbox-mysql', ['mysql'], { names: ['outbox'], pattern: null, schema: null, have: 'MessageId Topic MessageType Timestamp HeaderBag Body Dispatched Created CreatedID', without: '', only: 'headerbag', beside: '' }),
  rule('spring-modulith-v1', ['postgres', 'mysql'], { names: ['event_publication', 'event_publication_archive'], pattern: null, schema: null, have: 'id listener_id event_type serialized_event publication_date completion_date', without: 'completion_attempts', only: 'serialized_event listener_id', beside: 'event_publication_archive' }),
  rule('spring-modulith-v2', ['postgres', 'mysql'], { names: ['event_publication', 'event_publication_archive'], pattern: null, schema: null, have: 'id listener_id event_type serialized_event publication_date completion_date status completion_attempts last_resubmission_date', without: '', only: 'serialized_event listener_id', beside: 'event_publication_archive' }),
  rule('eventuate-tram-message', ['postgres', 'mysql'], { names: [], pattern: '^message[0-9]*$', schema: null, have: 'id destination headers payload published creation_time', without: 'dbid', only: '', beside: 'received_messages offset_store cdc_monitoring' }),
  rule('eventuate-tram-message-dbid', ['postgres', 'mysql'], { names: [], pattern: '^message[0-9]*$', schema: null, have: 'dbid id destination headers payload published creation_time', without: '', only: '', beside: 'received_messages' }),
  rule('gruelbox-txno-outbox-pg', ['postgres'], { names: ['txno_outbox'], pattern: null, schema: null, have: 'id invocation nextattempttime attempts blocked processed version uniquerequestid', without: '', only: 'uniquerequestid invocation', beside: 'txno_version txno_sequence' }),
  rule('gruelbox-txno-outbox-mysql', ['mysql'], { names: ['txno_outbox'], pattern: null, schema: null, have: 'id invocation nextAttemptTime attempts blocked processed version uniqueRequestId', without: '', only: 'uniquerequestid invocation', beside: 'TXNO_VERSION TXNO_SEQUENCE' }),
  rule('namastack-outbox-record', ['postgres', 'mysql'], { names: [], pattern: 'outbox_record$', schema: null, have: 'id status record_key record_type payload failure_count next_retry_at partition_no handler_id', without: '', only: 'record_key partition_no', beside: 'outbox_instance outbox_partition' }),
  rule('axon-dead-letter-jpa', ['postgres', 'mysql'], { names: ['dead_letter_entry'], pattern: null, schema: null, have: 'dead_letter_id processing_group payload_type enqueued_at processing_started cause_type cause_message', without: '', only: 'dead_letter_id processing_group', beside: '' }),
  rule('axon-dead-letter-jdbc', ['postgres', 'mysql'], { names: ['deadletterentry'], pattern: null, schema: null, have: 'deadLetterIdentifier processingGroup sequenceIdentifier sequenceIndex enqueuedAt processingStarted causeType', without: '', only: 'deadletteridentifier processinggroup', beside: '' }),
  rule('watermill-pg', ['postgres'], { names: [], pattern: '^watermill_(?!offsets_)', schema: null, have: 'offset uuid created_at payload metadata transaction_id', without: 'acked', only: '', beside: 'watermill_offsets_*' }),
  rule('watermill-mysql', ['mysql'], { names: [], pattern: '^watermill_(?!offsets_)', schema: null, have: 'offset uuid created_at payload metadata', without: 'acked transaction_id', only: '', beside: 'watermill_offsets_*' }),
  rule('watermill-queue', ['postgres', 'mysql'], { names: [], pattern: '^watermill_', schema: null, have: 'offset uuid payload metadata acked created_at', without: '', only: '', beside: '' }),
  rule('pg-transactional-outbox', ['postgres'], { names: ['outbox', 'inbox'], pattern: null, schema: null, have: 'aggregate_type aggregate_id message_type segment concurrency locked_until processed_at abandoned_at started_attempts finished_attempts', without: '', only: 'abandoned_at started_attempts', beside: 'inbox' }),
  rule('nestjs-outbox-pg', ['postgres'], { names: ['messages'], pattern: null, schema: null, have: 'seq id topic payload headers key created_at available_at attempts last_error history lease_owner lease_until', without: '', only: 'lease_owner history', beside: 'dead_letters inbox migrations' }),
  rule('nestjs-outbox-dead-letters', ['postgres', 'mysql'], { names: [], pattern: 'dead_letters$', schema: null, have: 'id seq topic history reason failed_at attempts last_error', without: 'lease_owner', only: '', beside: 'messages' }),
  rule('nestjs-outbox-mysql', ['mysql'], { names: [], pattern: '_messages$', schema: null, have: 'seq id topic payload headers key created_at available_at attempts last_error history lease_owner lease_until', without: '', only: 'lease_owner history', beside: '*_dead_letters *_inbox' }),
  rule('eventferry-pg', ['postgres'], { names: ['outbox'], pattern: null, schema: null, have: 'message_id aggregate_type aggregate_id topic key payload headers trace_id status attempts next_retry_at claimed_at processed_at', without: '', only: '', beside: '' }),
  rule('eventferry-mysql', ['mysql'], { names: ['outbox'], pattern: null, schema: null, have: 'message_id aggregate_type aggregate_id topic key payload headers trace_id status attempts next_retry_at claimed_at processed_at', without: '', only: '', beside: '' }),
  rule('outbox-event-bus-pg', ['postgres'], { names: ['outbox_events'], pattern: null, schema: null, have: 'id type payload occurred_at status retry_count next_retry_at created_on keep_alive expire_in_seconds', without: '', only: '', beside: 'outbox_events_archive' }),
  rule('pg-boss-v10', ['postgres'], { names: ['job'], pattern: null, schema: 'pgboss', have: 'id name data state retry_limit retry_count start_after started_on singleton_key expire_in keep_until output dead_letter', without: 'expire_seconds', only: 'singleton_key retry_limit', beside: 'archive queue version schedule' }),
  rule('pg-boss-v12', ['postgres'], { names: ['job'], pattern: null, schema: 'pgboss', have: 'id name data state retry_limit retry_count start_after started_on singleton_key expire_seconds deletion_seconds keep_until output dead_letter', without: 'expire_in', only: 'singleton_key retry_limit', beside: 'queue version schedule job_common' }),
  rule('graphile-worker', ['postgres'], { names: ['_private_jobs', 'jobs'], pattern: null, schema: 'graphile_worker', have: 'id task_id payload run_at attempts max_attempts last_error locked_at locked_by is_available', without: '', only: 'is_available task_id', beside: '_private_tasks _private_job_queues' }),
  rule('river-job', ['postgres'], { names: ['river_job'], pattern: null, schema: null, have: 'id state attempt max_attempts attempted_at finalized_at scheduled_at args errors kind queue', without: '', only: 'river_job_state', beside: 'river_queue river_leader river_migration' }),
  rule('oban-pg', ['postgres'], { names: ['oban_jobs'], pattern: null, schema: null, have: 'id state queue worker args errors attempt max_attempts inserted_at scheduled_at attempted_at discarded_at', without: '', only: 'oban_job_state', beside: 'oban_peers' }),
  rule('oban-mysql', ['mysql'], { names: ['oban_jobs'], pattern: null, schema: null, have: 'id state queue worker args errors attempt max_attempts inserted_at scheduled_at attempted_at discarded_at', without: '', only: '', beside: 'oban_peers' }),
  rule('outboxer-messages', ['postgres', 'mysql'], { names: ['outboxer_messages'], pattern: null, schema: null, have: 'lock_version status messageable_id messageable_type queued_at publishing_at', without: '', only: 'messageable_type lock_version', beside: 'outboxer_exceptions outboxer_threads outboxer_publishers' }),
  rule('sbmt-outbox', ['postgres', 'mysql'], { names: [], pattern: '_(outbox|inbox)_items$', schema: null, have: 'uuid event_key bucket status payload errors_count processed_at', without: '', only: 'errors_count bucket', beside: '' }),
  rule('django-outbox-pattern', ['postgres'], { names: ['published'], pattern: null, schema: null, have: 'id version destination body added expires_at retry status headers', without: '', only: '', beside: 'received' }),
  rule('silverback-outbox-pg', ['postgres'], { names: ['silverbackoutbox'], pattern: null, schema: null, have: 'id content headers endpointname created', without: 'dynamicendpoint', only: '', beside: '' }),
  rule('silverback-outbox-ef', ['postgres', 'mysql'], { names: ['silverbackoutboxmessages?', 'outbox'], pattern: null, schema: null, have: 'Id Content Headers EndpointName DynamicEndpoint Created', without: '', only: '', beside: '', underscoreless: true }),
  rule('rebus-outbox-pg', ['postgres'], { names: ['outbox'], pattern: null, schema: null, have: 'Id CorrelationId MessageId SourceQueue DestinationAddress Headers Body Sent', without: '', only: '', beside: '' }),
  rule('opensleigh-outbox', ['postgres'], { names: ['outboxmessages'], pattern: null, schema: null, have: 'MessageId LockId LockTime CorrelationId Body MessageType CreatedAt ParentId SenderId', without: '', only: '', beside: '', underscoreless: true }),
  rule('rust-puerto-outbox', ['postgres'], { names: ['outbox'], pattern: null, schema: null, have: 'seq aggregate_type aggregate_id event_type schema_version occurred_at published_at', without: '', only: '', beside: 'event_deliveries dead_letters' }),
  rule('escrow-status', ['postgres'], { names: ['transaction_outbox'], pattern: null, schema: null, have: 'idempotency_key transaction_type transaction_ref_id status payload create_time processed_time last_attempt_time retry_count error_message', without: '', only: '', beside: '' }),
  rule('worker-status', ['mysql'], { names: ['outbox_events'], pattern: null, schema: null, have: 'id event_type payload created_at processed_at status', without: 'attempts retry_count aggregate_id topic last_error', only: '', beside: '' }),
  rule('published-at', ['postgres'], { names: ['outbox_events'], pattern: null, schema: null, have: 'aggregate_type aggregate_id event_type payload headers dedup_key created_at published_at attempt', without: 'status', only: '', beside: 'outbox_dead' }),
  rule('courier-status', ['postgres'], { names: ['outbox'], pattern: null, schema: null, have: 'id event_type payload status created_at', without: 'aggregate_id processed_at published_at attempts retry_count topic last_error updated_at', only: '', beside: '' }),
  rule('listen-notify', ['postgres'], { names: ['outbox'], pattern: null, schema: null, have: 'aggregate_type aggregate_id event_type payload created_at processed_at retry_count last_error', without: 'status published_at', only: '', beside: '' }),
];
