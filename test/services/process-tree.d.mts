/** Whether a process exists and is more than a zombie. */
export function isRunning(pid: number): boolean;
/** The process and all its descendants, parents first. */
export function processTree(root: number): number[];
/** Signals a process, all its descendants and its process group, and returns the descendants it saw. */
export function signalTree(root: number, signal: NodeJS.Signals): number[];
/** Ends a whole process tree at once and waits until it is gone. */
export function killTree(root: number): Promise<void>;
/** Asks the root of a process tree to end, and kills what is left of the tree after `graceMs`. */
export function endTree(root: number, signal: NodeJS.Signals, graceMs: number): Promise<void>;
