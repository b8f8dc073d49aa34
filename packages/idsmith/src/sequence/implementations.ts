import { InvalidOptionError } from '../errors.js';
import { refuse, show } from '../options.js';
import type { BlockSource } from './port.js';

/** The allocation of the store for one sequence, with the name of the sequence. Nothing is asked until blocks are allocated. */
export interface NamedSource extends BlockSource {
  readonly name: string;
}

/** Makes the source of blocks for a sequence: another one with its name, or one on top of the store's. */
export type MakeSource = (source: NamedSource) => BlockSource | Promise<BlockSource>;

/** Ways to make sources, by their names. A name keeps its meaning: two processes or modules cannot mean different sources. */
export class Implementations {
  readonly #makers = new Map<string, MakeSource>();

  /** @throws InvalidOptionError when the name is not text, is registered with another function, or `make` is no function */
  register(name: string, make: MakeSource): void {
    if (typeof name !== 'string' || name === '') refuse('the name of an implementation', 'text', name);
    if (typeof make !== 'function') refuse(`the implementation ${show(name)}`, 'a function', make);
    const before = this.#makers.get(name);
    if (before !== undefined && before !== make)
      throw new InvalidOptionError(
        `the implementation ${show(name)} is registered with another function: use another name`,
      );
    this.#makers.set(name, make);
  }

  /** @throws InvalidOptionError naming the known implementations when `name` is not one of them */
  makerOf(name: string): MakeSource {
    const make = this.#makers.get(name);
    if (make !== undefined) return make;
    const known = [...this.#makers.keys()].map(show).join(', ') || 'none';
    throw new InvalidOptionError(
      `implementation ${show(name)} is not registered (known: ${known}): call register(${show(name)}, …) first`,
    );
  }

  /** @throws InvalidOptionError when the function gives something that is no source */
  async makeSource(name: string, source: NamedSource): Promise<BlockSource> {
    const made = await this.makerOf(name)(source);
    if (typeof made?.allocate === 'function') return made;
    refuse(`the source of implementation ${show(name)}`, 'an object with a method allocate()', made);
  }
}
