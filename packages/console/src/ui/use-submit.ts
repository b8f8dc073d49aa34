import { useState } from 'preact/hooks';
import { type FieldErrors, fieldErrorsOf } from '../lib/field-errors.js';

/** Errors in fields, found before a request is sent. */
export class FormError extends Error {
  readonly errors: FieldErrors;

  constructor(errors: FieldErrors) {
    super(Object.values(errors).join(' '));
    this.errors = errors;
  }
}

/** The errors of a form, its busy state, and the handler for its submit event. */
export function useSubmit(fields: readonly string[], work: () => Promise<void>) {
  const [errors, setErrors] = useState<FieldErrors>({});
  const [isBusy, setBusy] = useState(false);

  const submit = async (event: Event) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    setBusy(true);
    try {
      await work();
      setErrors({});
    } catch (error) {
      setErrors(error instanceof FormError ? error.errors : fieldErrorsOf(error, fields));
      // After the errors have been rendered, the first wrong field gets the focus.
      setTimeout(() => form.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
    } finally {
      setBusy(false);
    }
  };

  return { errors, isBusy, submit, clear: () => setErrors({}) };
}
