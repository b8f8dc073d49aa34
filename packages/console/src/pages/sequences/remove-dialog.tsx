import { useState } from 'preact/hooks';
import { api } from '../../api/routes.js';
import { WHOLE_FORM } from '../../lib/field-errors.js';
import { shortName, visibleText } from '../../lib/visible-text.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Notice } from '../../ui/feedback.js';
import { TextField } from '../../ui/field.js';
import { FormError, useSubmit } from '../../ui/use-submit.js';

interface Props {
  readonly name: string;
  readonly onDone: (sentence: string) => void;
  readonly onClose: () => void;
}

/** Removes a sequence after the user has typed its name. */
export function RemoveDialog({ name, onDone, onClose }: Props) {
  const [typed, setTyped] = useState('');
  const { errors, isBusy, submit } = useSubmit(['name'], async () => {
    // A name with characters that cannot be seen is typed as it is shown.
    if (typed !== name && typed !== visibleText(name))
      throw new FormError({
        name: `The name does not match. Type ${visibleText(name)} to remove the sequence.`,
      });
    await api.remove(name);
    onDone(`Sequence ${shortName(name)} is removed.`);
  });
  return (
    <Dialog title={`Remove ${shortName(name)}?`} onClose={onClose}>
      <form class="stack" onSubmit={submit} noValidate>
        <p>
          The store deletes the sequence and its position. A new sequence of the same name starts over and
          hands out the same ids again. This cannot be undone.
        </p>
        <TextField
          label={`Type ${visibleText(name)} to confirm`}
          value={typed}
          onInput={setTyped}
          error={errors.name}
          hint="exactly as shown"
        />
        {errors[WHOLE_FORM] && <Notice>{errors[WHOLE_FORM]}</Notice>}
        <div class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="danger" submit isBusy={isBusy}>
            Remove
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
