import { useId } from 'preact/hooks';
import { Button } from '../../ui/button.js';
import { Field } from '../../ui/field.js';
import styles from './ring.module.css';

const EXAMPLE = `{
  "shards": {
    "a": [6379, "10.0.0.1", 1],
    "b": [6379, "10.0.0.2", 1],
    "c": [6379, "10.0.0.3", 2]
  }
}`;

interface Props {
  readonly text: string;
  readonly problem: string | undefined;
  readonly onText: (text: string) => void;
}

/** The shard config: typed, pasted, or loaded from a file. */
export function ConfigForm({ text, problem, onText }: Props) {
  const file = useId();
  return (
    <div class="panel stack">
      <Field
        label="Shard config"
        hint="JSON with shards: { name: [port, host, weight] }, the config of ShardMap"
        error={problem}
      >
        {(attributes) => (
          <textarea
            {...attributes}
            class="mono"
            rows={11}
            spellcheck={false}
            value={text}
            onInput={(event) => onText(event.currentTarget.value)}
          />
        )}
      </Field>
      <div class="row tight">
        <label class={`button plain ${styles.file}`} for={file}>
          Load a file
          <input
            id={file}
            class="visually-hidden"
            type="file"
            accept=".json,application/json"
            onChange={async (event) => {
              const chosen = event.currentTarget.files?.[0];
              if (chosen !== undefined) onText(await chosen.text());
            }}
          />
        </label>
        <Button onClick={() => onText(EXAMPLE)}>Use the example</Button>
        {text !== '' && (
          <Button look="quiet" onClick={() => onText('')}>
            Clear
          </Button>
        )}
      </div>
    </div>
  );
}
