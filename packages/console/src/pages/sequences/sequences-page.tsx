import { useRef, useState } from 'preact/hooks';
import { refreshAll } from '../../api/connection.js';
import { api } from '../../api/routes.js';
import type { SequenceJson, SequencePageJson } from '../../api/types.js';
import { digits } from '../../lib/format.js';
import { type UsageSamples, withSamples } from '../../lib/sequence-rate.js';
import { shortName } from '../../lib/visible-text.js';
import { route } from '../../router.js';
import { Button } from '../../ui/button.js';
import { EmptyState, Loading, Notice, RequestError } from '../../ui/feedback.js';
import { useObservable } from '../../ui/hooks.js';
import { Page } from '../../ui/page.js';
import { showToast } from '../../ui/toast.js';
import { usePolling } from '../../ui/use-polling.js';
import { useMissingScope } from '../../ui/use-server.js';
import { RemoveDialog } from './remove-dialog.js';
import { SequenceForm } from './sequence-form.js';
import { SequencePage } from './sequence-page.js';
import { SequenceSearch, SORTS, type Sort } from './sequence-search.js';
import { SequenceTable } from './sequence-table.js';
import { SeriesTable } from './series-table.js';

/** The open dialog. */
type Open =
  | { readonly kind: 'define' }
  | { readonly kind: 'alter' | 'remove'; readonly sequence: SequenceJson };

/** The list of sequences, or the page of one. @param rest the name of the sequence */
export function SequencesPage({ rest }: { rest: string }) {
  return rest === '' ? <SequenceList /> : <SequencePage key={rest} name={rest} />;
}

/** Lists, defines, alters and removes sequences. The search and the order are part of the address. */
function SequenceList() {
  const { query } = useObservable(route);
  const { q: search = '' } = query;
  const sort = SORTS.find(([each]) => each === query.sort)?.[0] ?? 'name';
  const [open, setOpen] = useState<Open>();
  const { data, error, isStale, before, onPrevious, onNext } = useSequencePage(search, sort);
  const refusal = useMissingScope('admin');

  const close = () => setOpen(undefined);
  const done = (sentence: string) => {
    close();
    showToast(sentence);
    refreshAll();
  };
  const isEmpty = data?.total === 0 && search === '';
  const define = (text: string, look: 'primary' | 'plain') => (
    <Button
      look={look}
      {...(look === 'primary' && { icon: 'mint' as const })}
      refusal={refusal}
      onClick={() => setOpen({ kind: 'define' })}
    >
      {text}
    </Button>
  );

  return (
    <Page
      title="Sequences"
      lead="An id counts as used once its block has left the store. Rates count the ids that this server hands out."
      actions={define('Define a sequence', 'primary')}
      isStale={isStale}
    >
      <RequestError error={error} />
      {refusal && (
        <Notice look="info">Defining, altering and removing are not possible here: {refusal}.</Notice>
      )}
      {data === undefined && error === undefined && <Loading what="the sequences" lines={4} />}
      {isEmpty && (
        <EmptyState title="No sequence is defined">
          <p>
            A sequence hands out ascending numbers, such as 10001 and 10002, from blocks that the server
            fetches.
          </p>
          {define('Define the first one', 'plain')}
        </EmptyState>
      )}
      {!isEmpty && (data !== undefined || search !== '') && <SequenceSearch wanted={search} sort={sort} />}
      {data?.total === 0 && search !== '' && <EmptyState title={`No name contains “${shortName(search)}”`} />}
      {data !== undefined && data.sequences.length > 0 && (
        <SequenceTable
          sequences={data.sequences}
          samples={data.samples}
          refusal={refusal}
          onAlter={(sequence) => setOpen({ kind: 'alter', sequence })}
          onRemove={(sequence) => setOpen({ kind: 'remove', sequence })}
        />
      )}
      {data !== undefined && (data.total > PAGE_SIZE || before > 0) && (
        <SequencePager
          before={before}
          count={data.sequences.length}
          total={data.total}
          onPrevious={onPrevious}
          onNext={onNext}
        />
      )}
      {!isEmpty && search === '' && before === 0 && <SeriesTable />}
      {open?.kind === 'define' && <SequenceForm onDone={done} onClose={close} />}
      {open?.kind === 'alter' && <SequenceForm sequence={open.sequence} onDone={done} onClose={close} />}
      {open?.kind === 'remove' && <RemoveDialog name={open.sequence.name} onDone={done} onClose={close} />}
    </Page>
  );
}

interface Props {
  /** The number of rows before this page. */
  readonly before: number;
  readonly count: number;
  readonly total: number;
  readonly onPrevious: (() => void) | undefined;
  readonly onNext: (() => void) | undefined;
}

/** The place of a page in the whole list, and the way to its neighbours. */
function SequencePager({ before, count, total, onPrevious, onNext }: Props) {
  return (
    <nav class="row tight pager" aria-label="Pages of the list">
      <Button disabled={onPrevious === undefined} onClick={() => onPrevious?.()}>
        Previous
      </Button>
      <span class="mono" role="status">
        {count === 0 ? 'none' : `${digits(before + 1)} – ${digits(before + count)}`} of {digits(total)}
      </span>
      <Button disabled={onNext === undefined} onClick={() => onNext?.()}>
        Next
      </Button>
    </nav>
  );
}

const INTERVAL = 2000;

/** The most rows of a page. */
const PAGE_SIZE = 50;

interface Shown extends SequencePageJson {
  readonly samples: UsageSamples;
}

/** One page of the list of sequences, with the samples for rates. Another search or order starts at the first page. */
function useSequencePage(q: string, sort: Sort) {
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
