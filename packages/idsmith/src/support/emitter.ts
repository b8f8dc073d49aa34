import { refuse, refuseName } from '../options.js';

/** The details of each event, by its name: the arguments of its listeners. */
export type EventMap<Events> = { readonly [Name in keyof Events]: readonly unknown[] };

/** A listener of one event. */
export type Listener<Details extends readonly unknown[]> = (...details: Details) => void;

interface Registration {
  readonly fn: Listener<never>;
  readonly isOnce: boolean;
}

/**
 * Calls listeners by the name of an event. Names and details are typed by `Events`.
 *
 * @example
 * interface Events { renewed: []; failed: [error: unknown] }
 * const emitter = new Emitter<Events>(['renewed', 'failed']);
 * emitter.on('failed', (error) => console.error(error));
 * emitter.emit('failed', new Error('no answer'));
 */
export class Emitter<Events extends EventMap<Events>> {
  readonly #names: readonly (keyof Events & string)[];
  readonly #registrations = new Map<keyof Events, readonly Registration[]>();

  /** @param names every event that can be listened to */
  constructor(names: readonly (keyof Events & string)[]) {
    this.#names = names;
  }

  /**
   * Calls `fn` at every `event`.
   *
   * @throws InvalidOptionError when the event is unknown
   */
  on<Name extends keyof Events & string>(event: Name, fn: Listener<Events[Name]>): void {
    this.#add(event, { fn, isOnce: false });
  }

  /**
   * Calls `fn` at the next `event` only.
   *
   * @throws InvalidOptionError when the event is unknown
   */
  once<Name extends keyof Events & string>(event: Name, fn: Listener<Events[Name]>): void {
    this.#add(event, { fn, isOnce: true });
  }

  /**
   * Removes a listener, the one that was added last if `fn` was added several times. Does nothing if there is none.
   *
   * @throws InvalidOptionError when the event is unknown
   */
  off<Name extends keyof Events & string>(event: Name, fn: Listener<Events[Name]>): void {
    const registrations = this.#of(event);
    const last = registrations.findLastIndex((registration) => registration.fn === fn);
    if (last >= 0)
      this.#registrations.set(
        event,
        registrations.filter((_, index) => index !== last),
      );
  }

  /**
   * Calls the listeners of `event`, in the order in which they were added. A listener that throws disturbs neither the others
   * nor the caller: its error surfaces in a microtask.
   */
  emit<Name extends keyof Events & string>(event: Name, ...details: Events[Name]): void {
    for (const registration of this.#of(event)) {
      if (registration.isOnce) this.#remove(event, registration);
      try {
        (registration.fn as unknown as Listener<Events[Name]>)(...details);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  #add(event: keyof Events & string, registration: Registration): void {
    const registrations = this.#of(event);
    if (typeof registration.fn !== 'function') refuse('the listener', 'a function', registration.fn);
    this.#registrations.set(event, [...registrations, registration]);
  }

  #remove(event: keyof Events & string, registration: Registration): void {
    this.#registrations.set(
      event,
      this.#of(event).filter((other) => other !== registration),
    );
  }

  #of(event: keyof Events & string): readonly Registration[] {
    if (!this.#names.includes(event)) refuseName('event', event, this.#names);
    return this.#registrations.get(event) ?? [];
  }
}
