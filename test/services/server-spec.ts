import type { Ports } from './ports.ts';
import type { User } from './run-as.ts';

/** A program and its arguments. */
export type CommandLine = readonly [command: string, ...args: string[]];

/** What a server is and how to deal with it. */
export interface ServerSpec {
  readonly name: string;
  readonly dir: string;
  /** Its reserved ports, the one for clients first. */
  readonly ports: Ports;
  readonly url: string;
  readonly run: CommandLine;
  /** Run once, before the first start. Makes the folder `data` in `dir`. */
  readonly prepare?: CommandLine;
  /** True if what `prepare` makes are the data of another server. */
  readonly isCopy?: boolean;
  readonly env?: Record<string, string>;
  readonly user?: User | undefined;
  /** The file of the network namespace in which it runs; ours unless told otherwise. */
  readonly network?: string | undefined;
  /** The signal for an orderly end; SIGTERM unless told otherwise. */
  readonly stopSignal?: NodeJS.Signals;
  /** The signal for an end as soon as the last client has gone, where there is one. `stop` tries it first, for a moment. */
  readonly drainSignal?: NodeJS.Signals;
  /** Whether it answers its clients. May throw as long as it does not. */
  readonly answers: () => Promise<boolean>;
  /** Called after the last end, before the folder is removed. */
  readonly cleanUp?: () => void;
}
