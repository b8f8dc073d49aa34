import { useState } from 'preact/hooks';
import { WHOLE_FORM } from '../../lib/field-errors.js';
import { Button } from '../../ui/button.js';
import { Choice } from '../../ui/choice.js';
import { EmptyState, Notice } from '../../ui/feedback.js';
import { TextField } from '../../ui/field.js';
import { Page } from '../../ui/page.js';
import { missingScope, useServer } from '../../ui/use-server.js';
import { FormError, useSubmit } from '../../ui/use-submit.js';
import { FAMILIES, type MintFamily, type MintOptions } from './families.js';
import { PublicField, SequenceField, SeriesFields } from './fields.js';
import { type Minted, MintedIds } from './minted-ids.js';

const CHOICES = Object.entries(FAMILIES).map(([family, { label }]) => [family as MintFamily, label] as const);

const DEFAULTS: MintOptions = {
  count: '5',
  public: '',
  mode: 'variable',
  name: '',
  type: '',
  format: '',
  period: 'none',
  tenant: '',
};

/** Refuses a type number that is too high. Only the server knows the names of types. */
function requireType(type: string): void {
  if (/^\d+$/.test(type) && Number(type) > 3843)
    throw new FormError({ type: 'Type must be a name, or a number from 0 to 3843.' });
}

/** Mints ids of any family. */
export function MintPage({ rest }: { rest: string }) {
  const [family, setFamily] = useState<MintFamily>(rest === '' ? 'flake' : 'sequence');
  const [options, setOptions] = useState<MintOptions>({ ...DEFAULTS, name: rest });
  const [minted, setMinted] = useState<Minted>();
  const server = useServer();
  const refusal = missingScope(server?.scopes, 'mint');
  const prefixes = (server?.publicIds ?? []).filter(({ of }) => of === FAMILIES[family].publicKind);
  /** The chosen prefix, if it is one for this family. */
  const prefix = prefixes.some((each) => each.prefix === options.public) ? options.public : '';
  const set = (changes: Partial<MintOptions>) => setOptions((last) => ({ ...last, ...changes }));

  const { errors, isBusy, submit, clear } = useSubmit(
    ['count', 'mode', 'name', 'type', 'public', 'format', 'period', 'tenant'],
    async () => {
      if (refusal !== undefined) return;
      if (family === 'sequence' && options.name.trim() === '')
        throw new FormError({ name: 'Enter the name of a sequence.' });
      if (family === 'series' && options.name.trim() === '')
        throw new FormError({ name: 'Enter the name of a series.' });
      if (family === 'series' && options.format === '')
        throw new FormError({ format: 'Enter a format, such as INV-{yyyy}-{n:6}.' });
      if (family === 'key') requireType(options.type.trim());
      const { ids, plain } = await FAMILIES[family].mint({ count: options.count, public: prefix }, options);
      setMinted({
        family,
        at: Date.now(),
        ...(plain === undefined ? { ids } : { ids: plain, publicIds: ids }),
      });
    },
  );

  return (
    <Page title="Mint" lead="Mint ids of any family. Every id is handed out only once.">
      <form class="panel" onSubmit={submit} noValidate>
        <Choice
          legend="Family"
          value={family}
          options={CHOICES}
          onChange={(next) => {
            setFamily(next);
            clear();
          }}
        />
        <p class="muted">{FAMILIES[family].about}</p>
        {family === 'locality' && (
          <Choice
            legend="Mode"
            value={options.mode}
            options={[
              ['variable', 'Variable (spread out)'],
              ['sequential', 'Sequential (kept together)'],
            ]}
            onChange={(mode) => set({ mode })}
          />
        )}
        <div class="row">
          {family === 'sequence' && (
            <SequenceField value={options.name} error={errors.name} onInput={(name) => set({ name })} />
          )}
          {family === 'series' && <SeriesFields options={options} errors={errors} onChange={set} />}
          {family === 'key' && (
            <TextField
              label="Type"
              value={options.type}
              onInput={(type) => set({ type })}
              hint="a name or a number; empty for the default"
              error={errors.type}
            />
          )}
          {prefixes.length > 0 && (
            <PublicField
              prefixes={prefixes}
              value={prefix}
              error={errors.public}
              onChange={(next) => set({ public: next })}
            />
          )}
          <TextField
            label="Count"
            value={options.count}
            onInput={(count) => set({ count })}
            hint="1 to 10,000"
            error={errors.count}
            isNumber
          />
          <Button look="primary" icon="mint" submit isBusy={isBusy} refusal={refusal}>
            Mint
          </Button>
        </div>
        {refusal && <Notice look="info">Minting is not possible here: {refusal}.</Notice>}
        {errors[WHOLE_FORM] && <Notice>{errors[WHOLE_FORM]}</Notice>}
      </form>
      {minted === undefined ? (
        <EmptyState title="No ids yet">
          <p>Choose a family and a count, then mint. This page does not keep ids: copy the ones you need.</p>
        </EmptyState>
      ) : (
        <MintedIds minted={minted} />
      )}
    </Page>
  );
}
