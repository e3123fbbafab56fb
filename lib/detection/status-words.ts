/** What the words of a status column mean, where they leave no doubt. */
import type { StatusWord } from '@/lib/shared/detection';
import type { LiveState } from '@/lib/shared/states';
import { bare } from './names';

const split = (text: string): string[] => text.trim().split(/\s+/);

const WORDS: Record<LiveState, ReadonlySet<string>> = {
  pending: new Set(
    split(`pending new created queued available scheduled ready waiting open todo unsent unpublished notsent notpublished initial init stored saved enqueued delayed
      tosend topublish unprocessed readytosend readytopublish registered inserted 대기 대기중 미발행 미전송 신규 생성 생성됨 발행대기 новый новое новая ожидает ожидание
      вочереди создано неотправлено pendiente nuevo creado encola porenviar čaká caka čakajúce cakajuce nový novy nové nove nova neu offen wartend ausstehend bereit
      erstellt`),
  ),
  processing: new Set(
    split(`processing active running executing publishing inprogress inflight claimed locked sending delivering dispatching started taken reserved leased
      처리중 발행중 전송중 진행중 вобработке обрабатывается отправляется выполняется procesando enproceso enviando spracovávasa spracovavasa odosielasa prebieha
      inbearbeitung wirdgesendet laufend`),
  ),
  published: new Set(
    split(`published sent done completed complete delivered processed success succeeded successful dispatched handled finished emitted acked acknowledged relayed
      transmitted 완료 발행됨 발행완료 전송됨 전송완료 처리완료 성공 отправлено отправлен опубликовано опубликован обработано обработан готово завершено доставлено enviado
      publicado procesado completado entregado odoslané odoslane odoslaný odoslany spracované spracovane publikované publikovane doručené dorucene hotovo dokončené
      dokoncene gesendet versendet verarbeitet erledigt veröffentlicht veroeffentlicht fertig abgeschlossen zugestellt`),
  ),
  retrying: new Set(
    split(`retry retrying retryable toretry retrypending waitingretry waitingforretry retryscheduled failedretryable 재시도 재시도중 재시도대기 повтор повторно повторяется
      reintentar reintentando opakovať opakovat opakujesa wiederholung wirdwiederholt`),
  ),
  dead: new Set(
    split(`dead deadletter deadlettered poison poisoned abandoned aborted discarded exhausted permanentlyfailed permanentfailure failedpermanently dlq parked givenup
      undeliverable 폐기 폐기됨 영구실패 мертвое мертвый мёртвое мёртвый недоставляемо отброшено muerto abandonado descartado mŕtve mrtve mŕtvy zahodené zahodene verworfen
      aufgegeben unzustellbar`),
  ),
};

/** After these words `published` may well mean "stored and waiting", as it does in Spring Modulith. */
const FURTHER = new Set(split('completed complete processed delivered done handled finished succeeded acknowledged acked'));

/** What the rows of a sample say about a word. */
export interface WordEvidence {
  word: string;
  rows: number;
  /** Of these rows, those that have a published time; null where the table has none. */
  published: number | null;
}

/** What each word is proposed to mean. Numbers are never sure, `failed` never proposed: libraries do not agree on it. */
export function proposeWords(seen: readonly WordEvidence[]): StatusWord[] {
  const further = seen.some(({ word }) => FURTHER.has(bare(word)));
  const split = seen.some(({ published, rows }) => published !== null && published < rows);
  return seen.map(({ word, rows, published }) => {
    const own = bare(word);
    if (own === 'published' && further) return { word, rows, state: null, sure: false };
    const state = (Object.keys(WORDS) as LiveState[]).find((one) => WORDS[one].has(own)) ?? null;
    if (state !== null) return { word, rows, state, sure: true };
    // Rows with this word all have their published time, and rows with others have not.
    const shown = split && published !== null && rows > 0 && published === rows;
    return { word, rows, state: shown ? 'published' : null, sure: false };
  });
}
