import { useState } from 'preact/hooks';
import { refreshAll } from '../../api/connection.js';
import type { SequenceJson } from '../../api/types.js';
import { shortName } from '../../lib/visible-text.js';
import { route } from '../../router.js';
import { Button } from '../../ui/button.js';
import { EmptyState } from '../../ui/empty-state.js';
import { Loading } from '../../ui/loading.js';
import { Notice } from '../../ui/notice.js';
import { Page } from '../../ui/page.js';
import { RequestError } from '../../ui/request-error.js';
import { showToast } from '../../ui/toast.js';
import { useObservable } from '../../ui/use-observable.js';
import { useMissingScope } from '../../ui/use-server.js';
import { RemoveDialog } from './remove-dialog.js';
import { SequenceForm } from './sequence-form.js';
import { SequencePage } from './sequence-page.js';
import { SequencePager } from './sequence-pager.js';
import { SequenceSearch, SORTS } from './sequence-search.js';
import { SequenceTable } from './sequence-table.js';
import { SeriesTable } from './series-table.js';
import { PAGE_SIZE, useSequencePage } from './use-sequence-page.js';

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
