import { useRef, useState } from 'preact/hooks';
import { api } from '../../api/routes.js';
import type { SequencePageJson } from '../../api/types.js';
import { type UsageSamples, withSamples } from '../../lib/sequence-rate.js';
import { usePolling } from '../../ui/use-polling.js';
import type { Sort } from './sequence-search.js';

const INTERVAL = 2000;

/** The most rows of a page. */
export const PAGE_SIZE = 50;

interface Shown extends SequencePageJson {
  readonly samples: UsageSamples;
}

/** One page of the list of sequences, with the samples for rates. Another search or order starts at the first page. */
export function useSequencePage(q: string, sort: Sort) {
  const samples = useRef<UsageSamples>(new Map());
  const shown = useRef<Shown>(undefined);
  const list = `${sort} ${q}`;
  const [place, setPlace] = useState<{ list: string; cursors: readonly string[] }>({ list, cursors: [] });
  /** The cursors of this page and of those before it. The first page has none. */
  const cursors = place.list === list ? place.cursors : [];
  const cursor = cursors.at(-1);

  const polled = usePolling(
    `${list} ${cursor ?? ''}`,
    async (signal) => {
      const page = await api.sequences({ q, sort, limit: PAGE_SIZE, cursor }, signal);
      samples.current = withSamples(samples.current, page.sequences, Date.now());
      return { ...page, samples: samples.current };
    },
    INTERVAL,
  );
  // The rows of the page before stay until the new ones arrive, so that the list does not flicker.
  if (polled.data !== undefined || polled.error !== undefined) shown.current = polled.data;
  const data = shown.current;
  const next = polled.data?.cursor ?? null;
  return {
    ...polled,
    data,
    before: cursors.length * PAGE_SIZE,
    onPrevious: cursors.length === 0 ? undefined : () => setPlace({ list, cursors: cursors.slice(0, -1) }),
    onNext: next === null ? undefined : () => setPlace({ list, cursors: [...cursors, next] }),
  };
}
