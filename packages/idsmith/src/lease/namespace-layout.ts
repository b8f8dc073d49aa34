import { show } from '../options.js';
import { NamespaceRefusal } from './namespace-refusal.js';
import type { LeaseSettings } from './options.js';
import { NO_NODES } from './pages.js';
import { layoutOf, layoutRecord } from './protocol.js';
import { read, swap } from './store-calls.js';

/** The layout of a lease's generator, and the namespace's record of the layout. */
export class NamespaceLayout {
  readonly #settings: LeaseSettings;
  #fingerprint: string | undefined;
  /** True when the namespace is known to remember the layout. */
  #isKept: boolean;

  constructor(settings: LeaseSettings, remembered: string | undefined) {
    this.#settings = settings;
    this.#fingerprint = settings.layout ?? remembered;
    this.#isKept = this.#fingerprint !== undefined;
  }

  /** The layout's fingerprint; `undefined` while none is known. */
  get fingerprint(): string | undefined {
    return this.#fingerprint;
  }

  /** True when a layout is known and the namespace may not remember it yet. */
  get isPending(): boolean {
    return this.#fingerprint !== undefined && !this.#isKept;
  }

  /**
   * Takes the layout of a generator.
   *
   * @throws InvalidOptionError when another layout is known
   */
  adopt(layout: string): void {
    if (this.#fingerprint !== undefined)
      requireSameLayout(this.#settings.namespace, this.#fingerprint, layout);
    this.#fingerprint = layout;
  }

  /** Notes that a lease was acquired with this layout, or without one. */
  acquiredWith(layout: string | undefined): void {
    this.#isKept = layout !== undefined;
  }

  /**
   * Writes the layout into the namespace.
   *
   * @param onConflict is called before the error when the namespace remembers another layout
   * @throws InvalidOptionError when the namespace remembers another layout
   */
  async keep(onConflict: () => void): Promise<void> {
    const layout = this.#fingerprint;
    if (layout === undefined || this.#isKept) return;
    if (!(await swap(this.#settings, undefined, layoutRecord(layout)))) {
      const remembered = layoutOf(await read(this.#settings, NO_NODES));
      if (remembered !== undefined && remembered !== layout) onConflict();
      if (remembered !== undefined) requireSameLayout(this.#settings.namespace, remembered, layout);
    }
    this.#isKept = true;
  }
}

/** @throws InvalidOptionError when the namespace remembers another layout */
export function requireSameLayout(namespace: string, remembered: string, given: string): void {
  if (remembered === given) return;
  throw new NamespaceRefusal(
    `namespace ${show(namespace)} has ids of the layout "${remembered}", not "${given}": two layouts in one namespace would ` +
      'repeat ids. Use the same layout, or another namespace whose ids never meet these',
  );
}
