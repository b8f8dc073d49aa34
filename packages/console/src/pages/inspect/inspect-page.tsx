import { useEffect, useRef, useState } from 'preact/hooks';
import { replaceRest } from '../../router.js';
import { Button } from '../../ui/button.js';
import { TextField } from '../../ui/field.js';
import { Loading } from '../../ui/loading.js';
import { Page } from '../../ui/page.js';
import { Panel } from '../../ui/panel.js';
import { RequestError } from '../../ui/request-error.js';
import { Examples } from './examples.js';
import styles from './inspect.module.css';
import { Makers } from './makers.js';
import { ReadingPanel } from './reading-panel.js';
import { SequenceReadings } from './sequence-readings.js';
import { useInspection } from './use-inspection.js';

/** The pause in typing after which the id is inspected, ms. */
const PAUSE = 150;

/** Shows everything that an id contains. */
export function InspectPage({ rest }: { rest: string }) {
  const [text, setText] = useState(rest);
  const { id, readings, makers, sequences, unread, problem, error, isLoading } = useInspection(rest);
  /** True for a number that no family reads, but a sequence contains. */
  const hasSequencePanel = sequences.length > 0 && readings.every(({ family }) => family !== 'sequence');
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);

  // The address decides, so that links and the Back button work.
  useEffect(() => setText((typed) => (typed.trim() === rest ? typed : rest)), [rest]);
  useEffect(() => () => clearTimeout(timer.current), []);

  const type = (value: string) => {
    setText(value);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => replaceRest('inspect', value.trim()), PAUSE);
  };
  const submit = (event: Event) => {
    event.preventDefault();
    clearTimeout(timer.current);
    replaceRest('inspect', text.trim());
  };

  return (
    <Page title="Inspect" lead="Paste an id of any family to see everything it contains.">
      <form class={styles.form} onSubmit={submit} noValidate>
        <TextField
          label="Id"
          value={text}
          onInput={type}
          placeholder="a UUID, a flake, a key, a number"
          error={problem}
        />
        <Button look="primary" icon="inspect" submit>
          Inspect
        </Button>
      </form>
      <RequestError error={error} />
      {rest === '' && <Examples />}
      {isLoading && <Loading what="the readings" lines={4} />}
      <p class="visually-hidden" role="status">
        {id !== '' && `${readings.length + (hasSequencePanel ? 1 : 0)} readings`}
      </p>
      <div class={styles.readings}>
        {readings.map((reading, i) => (
          <ReadingPanel
            key={`${id} ${reading.family} ${reading.fields.layout ?? ''} ${i}`}
            id={id}
            reading={reading}
            isBest={i === 0 && readings.length > 1}
          >
            {reading.family === 'flake' && (
              <Makers makers={makers.filter(({ layout }) => layout === reading.fields.layout)} />
            )}
            {reading.family === 'sequence' && (
              <SequenceReadings id={id} sequences={sequences} unread={unread} />
            )}
          </ReadingPanel>
        ))}
        {hasSequencePanel && (
          <Panel title="Sequence number">
            <SequenceReadings id={id} sequences={sequences} unread={unread} />
          </Panel>
        )}
      </div>
    </Page>
  );
}
