/** Outboxes that people made by hand, in the styles they make them: names, languages, types and ways of telling progress. */
import type { Confidence } from '@/lib/shared/detection';
import type { TableFact } from './shape-facts';

export interface HomeGrown extends TableFact {
  confidence: Exclude<Confidence, 'certain'>;
  /** Role → column that a person would say. */
  roles: Record<string, string>;
}

function made(table: string, confidence: HomeGrown['confidence'], columns: string, roles: Record<string, string>): HomeGrown {
  return { schema: `made_${table.toLowerCase().replace(/[^a-z0-9]+/g, '_')}`, table, columns, confidence, roles };
}

export const HOME_GROWN: readonly HomeGrown[] = [
  made('order_outbox', 'likely', 'id bigint, event_type text, payload jsonb, created_at timestamptz, published_at timestamptz, retries int, last_error text', {
    type: 'event_type', payload: 'payload', createdAt: 'created_at', publishedAt: 'published_at', attempts: 'retries', error: 'last_error',
  }),
  made('OutboxMessages', 'likely', 'Id uuid, Type text, Content text, OccurredOnUtc timestamptz, ProcessedOnUtc timestamptz, Error text', {
    type: 'Type', payload: 'Content', createdAt: 'OccurredOnUtc', publishedAt: 'ProcessedOnUtc', error: 'Error',
  }),
  made('IntegrationEventLog', 'likely', 'EventId uuid, EventTypeName text, State int, TimesSent int, CreationTime timestamptz, Content text, TransactionId uuid', {
    type: 'EventTypeName', payload: 'Content', createdAt: 'CreationTime', status: 'State', attempts: 'TimesSent',
  }),
  made('tb_outbox_event', 'likely', 'outbox_id bigint, aggregate_type varchar(50), aggregate_id varchar(50), event_type varchar(100), payload text, status varchar(20), created_at timestamp, updated_at timestamp', {
    aggregateType: 'aggregate_type', aggregateId: 'aggregate_id', type: 'event_type', payload: 'payload', status: 'status', createdAt: 'created_at',
  }),
  made('아웃박스', 'likely', '번호 bigint, 이벤트유형 varchar(100), 내용 jsonb, 상태 varchar(20), 생성일시 timestamptz, 시도횟수 int, 오류메시지 text', {
    type: '이벤트유형', payload: '내용', status: '상태', createdAt: '생성일시', attempts: '시도횟수', error: '오류메시지',
  }),
  made('исходящие_события', 'likely', 'ид bigint, тип_события text, данные jsonb, статус text, создано timestamptz, отправлено timestamptz, попытки int, ошибка text', {
    type: 'тип_события', payload: 'данные', status: 'статус', createdAt: 'создано', publishedAt: 'отправлено', attempts: 'попытки', error: 'ошибка',
  }),
  made('bandeja_de_salida', 'likely', 'id uuid, tipo_evento text, carga jsonb, estado text, creado_en timestamptz, enviado_en timestamptz, intentos int, mensaje_error text', {
    type: 'tipo_evento', payload: 'carga', status: 'estado', createdAt: 'creado_en', publishedAt: 'enviado_en', attempts: 'intentos', error: 'mensaje_error',
  }),
  made('odchadzajuce_udalosti', 'likely', 'id bigint, typ_udalosti text, obsah jsonb, stav text, vytvorene timestamptz, odoslane timestamptz, pokusy int, chyba text', {
    type: 'typ_udalosti', payload: 'obsah', status: 'stav', createdAt: 'vytvorene', publishedAt: 'odoslane', attempts: 'pokusy', error: 'chyba',
  }),
  made('postausgang', 'likely', 'id bigint, ereignistyp text, nutzdaten jsonb, erstellt_am timestamptz, gesendet_am timestamptz, versuche int, fehlermeldung text', {
    type: 'ereignistyp', payload: 'nutzdaten', createdAt: 'erstellt_am', publishedAt: 'gesendet_am', attempts: 'versuche', error: 'fehlermeldung',
  }),
  made('event_outbox', 'likely', 'id bigint, topic text, message_key text, value bytea, created_at bigint, sent boolean', {
    topic: 'topic', aggregateId: 'message_key', payload: 'value', createdAt: 'created_at', publishedFlag: 'sent',
  }),
  made('outgoing_messages', 'likely', 'id bigint, destination text, message_type text, body text, headers text, created_at timestamptz, dispatched boolean, failed boolean', {
    topic: 'destination', type: 'message_type', payload: 'body', headers: 'headers', createdAt: 'created_at', publishedFlag: 'dispatched', deadFlag: 'failed',
  }),
  made('t_outbox', 'likely', 'ob_id bigint, ob_type varchar(64), ob_payload text, ob_status smallint, ob_created bigint, ob_tries int', {
    type: 'ob_type', payload: 'ob_payload', status: 'ob_status', createdAt: 'ob_created', attempts: 'ob_tries',
  }),
  made('leased_outbox', 'possible', 'id uuid, topic text, payload jsonb, created_at timestamptz, locked_by text, locked_until timestamptz, attempts int', {
    topic: 'topic', payload: 'payload', createdAt: 'created_at', lockedBy: 'locked_by', lockedUntil: 'locked_until', attempts: 'attempts',
  }),
  made('outboxable_events', 'likely', 'id uuid, event_name text, routing_key text, exchange text, payload jsonb, status int, attempts int, last_attempted_at timestamp, retry_at timestamp, created_at timestamp', {
    type: 'event_name', topic: 'routing_key', payload: 'payload', status: 'status', attempts: 'attempts', attemptedAt: 'last_attempted_at', availableAt: 'retry_at', createdAt: 'created_at',
  }),
  made('domain_events', 'possible', 'id uuid, event_type text, aggregate_type text, aggregate_id uuid, payload jsonb, created_at timestamptz, published_at timestamptz', {
    type: 'event_type', aggregateType: 'aggregate_type', aggregateId: 'aggregate_id', payload: 'payload', createdAt: 'created_at', publishedAt: 'published_at',
  }),
  made('NatsOutbox', 'likely', 'seq bigint, subject text, data bytea, headers jsonb, created_at timestamptz, published_at timestamptz', {
    sequence: 'seq', topic: 'subject', payload: 'data', headers: 'headers', createdAt: 'created_at', publishedAt: 'published_at',
  }),
  made('messages_to_publish', 'likely', 'id bigint, "Event Name" text, "Event Body" jsonb, "Created At" timestamptz, "Sent At" timestamptz', {
    type: 'Event Name', payload: 'Event Body', createdAt: 'Created At', publishedAt: 'Sent At',
  }),
  made('outbox.events', 'likely', 'tenant_id int, seq bigint, kind text, body jsonb, state text, created_on timestamptz', {
    type: 'kind', payload: 'body', status: 'state', createdAt: 'created_on', sequence: 'seq',
  }),
]; // prettier-ignore
