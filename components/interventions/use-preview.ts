import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { SeenEvent } from '@/lib/shared/changes/batches';
import { INTERVENTION_EVENTS_MAX, type InterventionPreview } from '@/lib/shared/model';
import type { ActionResult, ProblemInfo } from '@/lib/shared/problems';
import { useConsole } from '../frame/console';
import { UNANSWERED } from '../frame/use-change';
import { readVersions, type Opening } from './actions';

export interface Preview {
  preview: InterventionPreview | null;
  /** The events after those shown, as they were seen: an undo's as they were when the dialog opened. Whole once it is not loading. */
  beyond: SeenEvent[];
  problem: ProblemInfo | null;
  loading: boolean;
  /** Reads the rows as they are now and takes those as seen. */
  readAgain: () => void;
}

/** A preview is what somebody decides on: it stands until they ask for another. */
const ONCE = { staleTime: Infinity, retry: false, networkMode: 'always' } as const;

/**
 * What the operation would do to the first of these events, read when the dialog opens. Events without a version (an undo)
 * are read first, those beyond the ones shown too: what is decided here is about what they were then.
 */
export function usePreview(opening: Opening): Preview {
  const { subject, operation, events, key } = opening;
  const { preview: ask } = useConsole().interventions;
  const [round, setRound] = useState({
    number: 0,
    seen: events.slice(0, INTERVENTION_EVENTS_MAX),
    beyond: events.slice(INTERVENTION_EVENTS_MAX),
  });
  // A refusal is an answer too: it stays in view while the next one is read.
  const shown = useQuery({
    ...ONCE,
    queryKey: ['preview', key, round.number],
    placeholderData: keepPreviousData,
    queryFn: async (): Promise<ActionResult<InterventionPreview>> => {
      const read = (seen: SeenEvent[]) =>
        ask({ outbox: subject.id, operation, events: seen }).catch(() => ({ ok: false as const, problem: UNANSWERED }));
      const found = await read(round.seen);
      return found.ok && round.seen.some(({ version }) => version === '') ? read(asSeen(found.value)) : found;
    },
  });
  const readable = shown.data?.ok === true && !shown.isPlaceholderData;
  const versions = useQuery({
    ...ONCE,
    queryKey: ['versions', key, round.number],
    enabled: readable && round.beyond.length > 0,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => readVersions(ask, opening, round.beyond, signal),
  });
  // Those shown are worth showing before the others were read.
  const failed = shown.data?.ok === false ? shown.data : versions.data?.ok === false ? versions.data : null;
  const preview = failed === null && shown.data?.ok === true ? shown.data.value : null;
  const beyond = versions.data?.ok === true ? versions.data.value : round.beyond;
  return {
    preview,
    beyond,
    problem: failed?.problem ?? null,
    loading: shown.isFetching || (readable && round.beyond.length > 0 && (versions.isPending || versions.isPlaceholderData)),
    readAgain: () => setRound(({ number, seen }) => ({ number: number + 1, seen: preview === null ? seen : asSeen(preview), beyond })),
  };
}

function asSeen(preview: InterventionPreview): SeenEvent[] {
  return preview.rows.map(({ event }) => ({ id: event.id, version: event.version }));
}
