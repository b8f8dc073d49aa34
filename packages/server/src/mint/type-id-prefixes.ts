import { InvalidOptionError } from 'idsmith';
import { type TypeIds, typeIds } from 'idsmith/typeid';
import { invalidRequest, RequestProblem } from '../http/problem.js';
import { mapInTurns } from '../ops/turns.js';
import type { PublicQuery } from './public-id-codecs.js';

/** The parameters of a request that ask for typed ids. */
export interface TypeIdQuery extends PublicQuery {
  readonly prefix?: string;
}

/** The typed ids that the server makes: the prefixes that its operator has named. */
export class TypeIdPrefixes {
  readonly #codecs = new Map<string, TypeIds<string>>();

  /**
   * @param list the prefixes with commas between them; an empty text for none
   * @throws InvalidOptionError naming the text that is no prefix
   */
  constructor(list: string) {
    if (list === '') return;
    for (const prefix of list.split(',').map((each) => each.trim())) {
      if (prefix === '')
        throw new InvalidOptionError(`type-ids: ${JSON.stringify(list)} has an empty prefix between commas`);
      try {
        this.#codecs.set(prefix, typeIds(prefix));
      } catch (error) {
        throw new InvalidOptionError(`type-ids: ${(error as Error).message}`, { cause: error });
      }
    }
  }

  /** The prefixes, in the order of the setting. */
  get prefixes(): string[] {
    return [...this.#codecs.keys()];
  }

  /**
   * Mints UUIDs as JSON text, and writes them as typed ids. The prefix is checked first, so that a wrong one takes no ids.
   *
   * @param mint mints so many UUIDs, as `{"ids":[…]}`
   * @throws RequestProblem 501 if the server has no prefixes, and 422 for a prefix that it does not know
   */
  async withTypeIds(
    { prefix, public: publicPrefix, plain }: TypeIdQuery & { readonly prefix: string },
    count: number,
    mint: (count: number) => string | Promise<string>,
  ): Promise<string> {
    if (publicPrefix !== undefined)
      throw invalidRequest('prefix does not go with public: ask for typed ids or for public ids');
    const codec = this.#codecOf(prefix);
    const { ids: inner } = JSON.parse(await mint(count)) as { ids: string[] };
    const ids = await mapInTurns(inner, codec.fromUuid);
    return JSON.stringify({ ids, ...(plain === 'true' && { plain: inner }) });
  }

  #codecOf(prefix: string): TypeIds<string> {
    if (this.#codecs.size === 0)
      throw new RequestProblem(
        501,
        'NOT_CONFIGURED',
        'this server has no prefixes for typed ids: start it with --type-ids user,order',
      );
    const codec = this.#codecs.get(prefix);
    if (codec !== undefined) return codec;
    throw invalidRequest(
      `prefix: ${JSON.stringify(prefix)} is not known here; there is ${this.prefixes.join(', ')}`,
    );
  }
}
