/** The result of a validation: the value, or the reasons against it. */
type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string }[] };

/**
 * A validator in the form of Standard Schema, version 1 (https://standardschema.dev), which frameworks for forms, routes and
 * procedures accept in place of their favourite library.
 */
export interface StandardSchema<Input, Output> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: 'idsmith';
    readonly validate: (value: unknown) => SchemaResult<Output>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** Makes a validator of a function that returns the value, or throws an error with the reason. */
export function standardSchema<Input, Output>(
  read: (value: unknown) => Output,
): StandardSchema<Input, Output> {
  const validate = (value: unknown): SchemaResult<Output> => {
    try {
      return { value: read(value) };
    } catch (error) {
      return { issues: [{ message: (error as Error).message }] };
    }
  };
  return { '~standard': { version: 1, vendor: 'idsmith', validate } };
}
