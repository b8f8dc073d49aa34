import type { Ids, LeaseStatus } from 'idsmith/connect';

/** The state of ids in the form of Terminus: `{ ids: { status: 'up', leases: […] } }`. */
export type IdsHealth<Key extends string = string> = Record<
  Key,
  { status: 'up' | 'down'; leases: Pick<LeaseStatus, 'family' | 'namespace' | 'state'>[] }
>;

/**
 * A health indicator for `@nestjs/terminus`, for readiness. It asks nobody, so that a probe costs nothing.
 *
 * @example
 * return this.health.check([() => this.idsHealth.isHealthy()]);
 */
export class IdsHealthIndicator {
  readonly #ids: Ids;

  constructor(ids: Ids) {
    this.#ids = ids;
  }

  /** Up while every lease that was asked for is active. A lease recovers in the background. */
  isHealthy<Key extends string = 'ids'>(key: Key = 'ids' as Key): IdsHealth<Key> {
    const { ready, leases } = this.#ids.status();
    const health = {
      status: ready ? 'up' : 'down',
      leases: leases.map(({ family, namespace, state }) => ({ family, namespace, state })),
    };
    return { [key]: health } as IdsHealth<Key>;
  }
}
