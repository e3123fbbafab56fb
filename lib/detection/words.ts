/** Column names of outboxes in several languages, most specific first, in lower case without separators. */

import type { CatalogueColumn } from '@/lib/database/catalogue';
import type { ValueRole } from '@/lib/shape/shape';
import type { LiveState } from '@/lib/shared/states';
import { bare } from './names';

const split = (text: string): string[] => text.trim().split(/\s+/);
const setOf = (text: string): ReadonlySet<string> => new Set(split(text));

/** Participles that mean "published": as a column a time, a flag or a status, depending on its type. */
const GONE = split(`published dispatched sent relayed emitted forwarded produced delivered processed completed handled done
  acked acknowledged transmitted flushed exported 발행 발행됨 전송 전송됨 опубликовано отправлено обработано publicado enviado procesado odoslane odoslané spracovane spracované publikovane publikované
  gesendet versendet veroeffentlicht veröffentlicht verarbeitet`);

const TIME_ENDINGS = ['at', 'on', 'time', 'date', 'ts', 'datetime', 'timestamp', 'ms', 'millis', 'epoch'];
const at = (words: readonly string[]): string[] => words.flatMap((word) => [...TIME_ENDINGS.map((end) => `${word}${end}`), `date${word}`]);

type Fits = (column: CatalogueColumn) => boolean;
const isText: Fits = ({ kind }) => kind === 'text';
const isKind: Fits = ({ kind }) => kind === 'text' || kind === 'integer';
const isNumber: Fits = ({ kind }) => kind === 'integer' || kind === 'decimal';
const isFlag: Fits = ({ kind, type }) => kind === 'boolean' || /^(tinyint|bit)\(1\)/i.test(type);
const isContent: Fits = ({ kind, type }) => ['json', 'binary', 'text'].includes(kind) || /xml|hstore|oid/i.test(type);
const isKey: Fits = ({ kind }) => ['text', 'uuid', 'integer', 'binary'].includes(kind);
const isErrorText: Fits = ({ kind }) => kind === 'text' || kind === 'json';
const isVersion: Fits = (column) => isNumber(column) || column.kind === 'binary';
/** MySQL's truth value may hold more than two numbers: one called `status` does, one called `sent` does not. */
const mayCode: Fits = ({ type, name }) => /^tinyint/i.test(type) && !GONE.includes(bare(name));
const isStatus: Fits = (column) => (isFlag(column) ? mayCode(column) : isKind(column) || column.labels !== null);
export const isTime: Fits = ({ kind }) => kind === 'instant' || kind === 'wall_clock';
/** A number or a text can hold a time too; its values are checked later. */
const maybeTime: Fits = (column) => isTime(column) || mayCount(column) || (isText(column) && column.labels === null);
/** A 32-bit number that is called `sent` is no time, but one that is called `sent_at` is. */
const mayCount: Fits = ({ kind, type, name }) =>
  kind === 'integer' && (/^big/i.test(type) || (/^int/i.test(type) && !GONE.includes(bare(name))));

/** By role: its possible types and column names. Columns are assigned in this order, the most important role first. */
export const DICTIONARY = {
  payload: { fits: isContent, names: split(`payload eventpayload messagepayload payloadjson jsonpayload eventdata messagedata body messagebody eventbody serializeddata serializedevent
    serializedpayload data content contents eventcontent messagecontent envelope eventjson jsondata json message msg value event
    페이로드 내용 본문 데이터 메시지 이벤트데이터 данные тело содержимое нагрузка сообщение теласообщения полезнаянагрузка datos contenido carga cuerpo mensaje
    cargautil obsah telo správa sprava datazpravy údaje udaje daten inhalt nutzlast nachricht ereignisdaten nutzdaten`) },
  type: { fits: isKind, names: split(`eventtype eventname messagetype eventtypename eventclass messagename eventkind eventcode type kind typename messageclass name
    이벤트유형 이벤트타입 이벤트명 유형 종류 типсобытия типсообщения тип вид tipoevento tipomensaje tipodeevento tipo typudalosti typspravy typsprávy druh typ
    ereignistyp nachrichtentyp ereignisart nachrichtenart art`) },
  topic: { fits: isText, names: split(`topic topicname kafkatopic targettopic destination destinationtopic destinationname routingkey exchange stream streamname queuename channelname
    eventbus broker target subject 토픽 대상 топик назначение tema destino ziel zielthema thema cieľ ciel téma`) },
  aggregateType: { fits: isKind, names: split(`aggregatetype aggregatename aggregateroottype aggregate entitytype entityname objecttype streamtype resourcetype modeltype sourcetype
    집계유형 애그리거트유형 типагрегата типсущности tipoagregado tipoentidad typagregatu typentity aggregattyp entitaet entitättyp`) },
  aggregateId: { fits: isKey, names: split(`aggregateid aggregaterootid aggregateidentifier aggregatekey entityid objectid streamid resourceid partitionkey messagekey eventkey recordkey
    kafkakey orderingkey groupkey sourceid key 집계id 애그리거트id агрегатid idагрегата идагрегата idсущности agregadoid idagregado identidad entidadid agregatid idagregatu
    identity aggregatid aggregatkennung`) },
  orderingKey: { fits: isKey, names: split(`orderingkey groupid messagegroup messagegroupid groupkey partitionkey sequencegroup streamkey concurrencykey orderkey shardkey`) },
  createdAt: { fits: maybeTime, names: [
    ...at(['created', 'inserted', 'occurred', 'occured', 'enqueued', 'added', 'raised', 'stored', 'recorded', 'queued', 'registered']),
    ...split(`created createtime creationtime creationdate createdate datecreated createdtimestamp inserttime eventtime eventdate eventtimestamp occurrencetime
    added enqueued timestamp ts 생성일시 생성시각 생성일 등록일시 создано создан датасоздания времясоздания созданов creadoen creado creadael fechacreacion fechadecreacion
    vytvorene vytvorené vytvorenyo vytvoreneo vytvorenéo vytvorenydna datumvytvorenia casvytvorenia erstelltam erstellt angelegtam erstellungszeit
    erstellungsdatum zeitstempel erzeugtam sozdano datasozdaniya`),
  ] },
  publishedAt: { fits: maybeTime, names: [
    ...at(GONE.filter((word) => /^[a-z]+$/.test(word))),
    ...split(`publicationdate publishtime publishdate sendtime sentdate processingtime finishedat
    발행일시 전송일시 처리일시 발행시각 отправленов опубликованов обработанов датаотправки датапубликации времяотправки publicadoen enviadoen procesadoen fechaenvio
    fechapublicacion fechaproceso odoslaneo odoslanéo odoslanedna datumodoslania casodoslania spracovaneo gesendetam versendetam veroeffentlichtam
    veröffentlichtam verarbeitetam versandzeit otpravleno`),
    ...GONE,
  ] },
  publishedFlag: { fits: isFlag, names: [...GONE.map((word) => `is${word}`), ...GONE, ...split(`wassent waspublished hasbeensent published_flag sentflag publishedflag processedflag erledigt`)] },
  deadFlag: { fits: isFlag, names: split(`isdead dead ispoison poisoned isblocked blocked isfailed failed isabandoned abandoned deadlettered 실패 ошибочное fallido zlyhane zlyhané fehlgeschlagen`) },
  status: { fits: isStatus, names: [...split(`status state eventstatus eventstate messagestatus publishstatus publishingstatus deliverystatus outboxstatus sendstatus processingstatus dispatchstatus
    statuscode statusid 상태 статус состояние estado estatus stav zustand`), ...GONE] },
  attempts: { fits: isNumber, names: split(`attempts attemptcount attemptscount attempt retrycount retries retriescount tries timessent timesattempted deliveryattempts publishattempts
    sendattempts failurecount failedattempts errorscount errorcount numattempts retry retryno 시도횟수 재시도횟수 попытки количествопопыток числопопыток попыток
    intentos reintentos numerointentos pokusy početpokusov pocetpokusov versuche anzahlversuche wiederholungen popytki`) },
  maxAttempts: { fits: isNumber, names: split(`maxattempts maxretries maxtries retrylimit attemptlimit maxretrycount maxdeliveryattempts 최대시도횟수 maxversuche maxintentos`) },
  error: { fits: isErrorText, names: split(`lasterror errormessage lasterrormessage error errortext errordetails errorlog exception lastexception failurereason failreason reason failuremessage lastfailure
    오류 오류메시지 에러메시지 실패사유 ошибка текстошибки последняяошибка ultimoerror mensajeerror mensajedeerror chyba poslednáchyba poslednachyba textchyby fehler
    fehlermeldung fehlertext letzterfehler oshibka`) },
  attemptedAt: { fits: maybeTime, names: split(`claimedat lockedat lastattemptat lastattemptedat attemptedat lasttriedat lastattempt lastattempttime pickedat pickedupat startedat processingat
    processingstartedat reservedat lockedon lastretryat lastsendat locktime letzterversuch letzterversucham poslednypokus ultimointento последняяпопытка 마지막시도일시`) },
  lockedUntil: { fits: maybeTime, names: split(`lockeduntil leaseuntil lockexpiresat leaseexpiresat claimeduntil claimexpiresat lockuntil reserveduntil invisibleuntil leaseexpiry lockexpiry
    lockexpiration leasedeadline leaseduntil leaseexpires leaseexpiration leaseend leaseends leaseendsat lockedtill lockexpires claimuntil processinguntil visibilitytimeout gesperrtbis bloqueadohasta zamknutedo uzamknutedo заблокированодо 잠금만료일시`) },
  lockedBy: { fits: isKey, names: split(`lockedby claimedby leaseowner lockowner workerid processorid processingby pickedby pickedupby instanceid ownerid reservedby locktoken claimtoken
    lockid worker leasedby leaseholder lockholder claimowner claimedbynode owner gesperrtvon bloqueadopor uzamkol заблокировал 처리자`) },
  availableAt: { fits: maybeTime, names: split(`nextretryat nextattemptat availableat nextretry nextattempt nextattempttime scheduledat scheduledfor runat retryat retryafter notbefore visibleat
    visibleafter dueat processafter deliverat deliverafter sendafter nextsendat publishafter delayuntil due dueon sendat publishat processat deliveron executeat nexttry nexttryat
    nextrunat nextretrytime retrytime visiblefrom scheduledon scheduledtime eta 다음시도일시 следующаяпопытка proximointento dalsipokus
    ďalšípokus naechsterversuch nächsterversuch`) },
  diedAt: { fits: maybeTime, names: split(`diedat deadat deadletteredat abandonedat discardedat parkedat poisonedat movedtodlqat failedat`) },
  dedupKey: { fits: isKey, names: split(`dedupkey deduplicationkey deduplicationid dedupid idempotencykey uniquekey uniquerequestid messageid eventid eventuuid messageuuid uuid guid externalid
    이벤트id idсобытия idevento idudalosti ereignisid`) },
  traceId: { fits: isKey, names: split(`traceid traceparent tracecontext tracingspancontext spancontext correlationid requestid korrelationsid`) },
  headers: { fits: isContent, names: split(`headers messageheaders eventheaders header metadata eventmetadata messagemetadata meta properties attributes context 헤더 заголовки метаданные cabeceras
    metadatos hlavičky hlavicky kopfdaten`) },
  sequence: { fits: isNumber, names: split(`sequence seq sequencenumber sequenceno position globalposition globalsequence offset ordinal rowno eventnumber 순번 порядок secuencia poradie
    reihenfolge lfdnr`) },
  version: { fits: isVersion, names: split(`lockversion rowversion version optlock`) },
} satisfies Partial<Record<ValueRole | 'status' | 'publishedFlag' | 'deadFlag', { fits: Fits; names: readonly string[] }>>; // prettier-ignore

/** Roles in the dictionary: those of the shape language, and three columns that show progress: status, publishedFlag, deadFlag. */
export type DictionaryRole = keyof typeof DICTIONARY;

/** Prefixes of column names that add no meaning: `event_status`, `outbox_id`, `msg_created_at`. */
export const FILLERS = ['outbox', 'event', 'message', 'msg', 'evt', 'ob', 'obx', 'integrationevent', 'domainevent'];

/** Columns of mails, chats and pages: such a table holds messages between people, not between services. */
export const VETO_NAMES = setOf(`recipient recipients recipientid recipientemail toaddress toaddresses toemail emailto emailaddress tonumber phonenumber fromaddress fromemail cc bcc replytoaddress
    folderid folder mailboxid readat isread sender senderid senderemail receiverid conversationid chatid threadid roomid htmlbody bodyhtml textbody slug
    authorid postid notifiableid notifiabletype useragent ipaddress attachmentids 수신자 발신자 제목 получатель отправитель destinatario remitente prijemca príjemca
    odosielatel odosielateľ empfaenger empfänger absender betreff`); // prettier-ignore

/** A veto only without other evidence for an outbox: `subject` is also NATS's word for a topic. */
export const WEAK_VETO_NAMES = setOf('subject title caption');

/** Names of outboxes in several languages; matched against the bare name of a table. */
export const OUTBOX_NAME =
  /outbox|outgoing(message|event|envelope)|(message|event)sout(going)?$|(event|message)publication|integration(event|message)|(transactional|pending|unpublished|unsent|reliable)(message|event)|(event|message)s?to(publish|send|dispatch)|(publish|dispatch|relay)(er)?(queue|log)|(event|message)(relay|dispatch|publisher)|아웃박스|발신함|발행대기|아웃바운드이벤트|исходящ|аутбокс|очередьсобытий|ishodyash|isxodyash|bandejadesalida|bandejasalida|(mensajes|eventos)(de)?salida|(mensajes|eventos)salientes|eventospendientes|odchadzajuc|odchádzajúc|odosielan(e|é)(udalosti|spravy|správy)|ausgehend|postausgang|nachrichtenausgang|ereignisausgang|ausgangs(nachricht|ereignis|event)/u;

/** Tables of events or messages, but not of those that came in. */
export const EVENT_NAME =
  /^(?!.*(inbox|incoming|inbound|received|webhook|consumed|processed|수신|входящ|entrad|eingang)).*(event|message|msg|이벤트|메시지|событ|сообщ|udalost|spr[aá]v|ereignis|nachricht|mensaje)/u;

/** Parts of the names of dead-letter tables. */
export const DEAD_NAME =
  /dead|dlq|dlx|poison|failed|failures?|errors?$|parked|rejected|abandoned|мертв|ошиб|muert|fallid|mrtv|mŕtv|tote|fehl/u;

export const ARCHIVE_NAME = /archive|history|processed|published|completed|sent$|done$|backup|архив|archivo|archiv/u;

/** Words in the names of an outbox's helper tables, which hold no events. */
export const AUXILIARY_WORDS =
  setOf(`offset offsets cursor cursors checkpoint checkpoints lock locks lease leases config configs configuration setting settings subscription subscriptions
    consumer consumers instance instances partition partitions worker workers node nodes migration migrations version versions schema stat stats statistics metric
    metrics attempt attempts delivery deliveries inbox exception exceptions audit topic topics type types sequence state states exchange`);

export const STATUS_WORDS: Record<LiveState, ReadonlySet<string>> = {
  pending:
    setOf(`pending new created queued available scheduled ready waiting open todo unsent unpublished notsent notpublished initial init stored saved enqueued delayed
      tosend topublish unprocessed readytosend readytopublish registered inserted 대기 대기중 미발행 미전송 신규 생성 생성됨 발행대기 новый новое новая ожидает ожидание
      вочереди создано неотправлено pendiente nuevo creado encola porenviar čaká caka čakajúce cakajuce nový novy nové nove nova neu offen wartend ausstehend bereit
      erstellt`),
  processing:
    setOf(`processing active running executing publishing inprogress inflight claimed locked sending delivering dispatching started taken reserved leased
      처리중 발행중 전송중 진행중 вобработке обрабатывается отправляется выполняется procesando enproceso enviando spracovávasa spracovavasa odosielasa prebieha
      inbearbeitung wirdgesendet laufend`),
  published:
    setOf(`published sent done completed complete delivered processed success succeeded successful dispatched handled finished emitted acked acknowledged relayed
      transmitted 완료 발행됨 발행완료 전송됨 전송완료 처리완료 성공 отправлено отправлен опубликовано опубликован обработано обработан готово завершено доставлено enviado
      publicado procesado completado entregado odoslané odoslane odoslaný odoslany spracované spracovane publikované publikovane doručené dorucene hotovo dokončené
      dokoncene gesendet versendet verarbeitet erledigt veröffentlicht veroeffentlicht fertig abgeschlossen zugestellt`),
  retrying:
    setOf(`retry retrying retryable toretry retrypending waitingretry waitingforretry retryscheduled failedretryable 재시도 재시도중 재시도대기 повтор повторно повторяется
      reintentar reintentando opakovať opakovat opakujesa wiederholung wirdwiederholt`),
  dead: setOf(`dead deadletter deadlettered poison poisoned abandoned aborted discarded exhausted permanentlyfailed permanentfailure failedpermanently dlq parked givenup
      undeliverable 폐기 폐기됨 영구실패 мертвое мертвый мёртвое мёртвый недоставляемо отброшено muerto abandonado descartado mŕtve mrtve mŕtvy zahodené zahodene verworfen
      aufgegeben unzustellbar`),
};

/** Besides these words `published` may mean "stored and waiting", as in Spring Modulith. */
export const DONE_WORDS = setOf('completed complete processed delivered done handled finished succeeded acknowledged acked');
