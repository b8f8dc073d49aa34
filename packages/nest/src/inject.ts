import { Inject } from '@nestjs/common';
import { Ids } from 'idsmith/connect';

/** The injection token of a generator or sequence that is listed under `generators`. */
export function idGeneratorToken(name: string): string {
  return `idsmith generator ${JSON.stringify(name)}`;
}

/**
 * Injects a generator or sequence that is listed under `generators`.
 *
 * @example
 * constructor(@InjectIdGenerator('orders') private readonly orders: FlakeGenerator) {}
 */
export function InjectIdGenerator(name: string): PropertyDecorator & ParameterDecorator {
  return Inject(idGeneratorToken(name));
}

/** Injects the `Ids` of the module. Where the compiler emits types of parameters, the type `Ids` alone does the same. */
export function InjectIds(): PropertyDecorator & ParameterDecorator {
  return Inject(Ids);
}
