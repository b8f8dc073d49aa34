import { useState } from 'preact/hooks';
import { type FieldErrors, fieldErrorsOf } from '../lib/field-errors.js';

/** What is wrong with fields, found before anything was sent. */
export class FormError extends Error {
  readonly errors: FieldErrors;

  constructor(errors: FieldErrors) {
    super(Object.values(errors).join(' '));
    this.errors = errors;
  }
}

/** A form's errors, whether it is at work, and what to do when it is submitted. */
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
      // Once the errors are there: to the first of them.
      setTimeout(() => form.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
    } finally {
      setBusy(false);
    }
  };

  return { errors, isBusy, submit, clear: () => setErrors({}) };
}
