import { useRef, useState } from 'preact/hooks';
import { refreshAll } from '../../api/connection.js';
import { api } from '../../api/routes.js';
import type { SequenceJson } from '../../api/types.js';
import { type UsageSamples, withSamples } from '../../lib/sequence-rate.js';
import { Button } from '../../ui/button.js';
import { EmptyState } from '../../ui/empty-state.js';
import { Loading } from '../../ui/loading.js';
import { Page } from '../../ui/page.js';
import { RequestError } from '../../ui/request-error.js';
import { showToast } from '../../ui/toast.js';
import { usePolling } from '../../ui/use-polling.js';
import { RemoveDialog } from './remove-dialog.js';
import { SequenceForm } from './sequence-form.js';
import { SequenceTable } from './sequence-table.js';

const INTERVAL = 2000;

/** The open dialog. */
type Open =
  | { readonly kind: 'define' }
  | { readonly kind: 'alter' | 'remove'; readonly sequence: SequenceJson };

/** Lists, defines, alters and removes sequences. */
export function SequencesPage() {
  const samples = useRef<UsageSamples>(new Map());
  const [open, setOpen] = useState<Open>();
  const { data, error } = usePolling(
    'sequences',
    async (signal) => {
      const sequences = await api.sequences(signal);
      samples.current = withSamples(samples.current, sequences, Date.now());
      return { sequences, samples: samples.current };
    },
    INTERVAL,
  );

  const close = () => setOpen(undefined);
  const done = (sentence: string) => {
    close();
    showToast(sentence);
    refreshAll();
  };

  return (
    <Page
      title="Sequences"
      lead="Numbers that are handed out in blocks. An id counts as used once its block has left the store."
      actions={
        <Button look="primary" icon="mint" onClick={() => setOpen({ kind: 'define' })}>
          Define a sequence
        </Button>
      }
    >
      <RequestError error={error} />
      {data === undefined && error === undefined && <Loading what="the sequences" lines={4} />}
      {data?.sequences.length === 0 && (
        <EmptyState title="No sequence is defined">
          <p>
            A sequence hands out ascending numbers, such as 10001 and 10002, from blocks that the server
            fetches.
          </p>
          <Button onClick={() => setOpen({ kind: 'define' })}>Define the first one</Button>
        </EmptyState>
      )}
      {data !== undefined && data.sequences.length > 0 && (
        <SequenceTable
          sequences={data.sequences}
          samples={data.samples}
          onAlter={(sequence) => setOpen({ kind: 'alter', sequence })}
          onRemove={(sequence) => setOpen({ kind: 'remove', sequence })}
        />
      )}
      {open?.kind === 'define' && <SequenceForm onDone={done} onClose={close} />}
      {open?.kind === 'alter' && <SequenceForm sequence={open.sequence} onDone={done} onClose={close} />}
      {open?.kind === 'remove' && <RemoveDialog name={open.sequence.name} onDone={done} onClose={close} />}
    </Page>
  );
}
