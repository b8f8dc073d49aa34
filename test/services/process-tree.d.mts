export function isRunning(pid: number): boolean;
export function processTree(root: number): number[];
export function signalTree(root: number, signal: NodeJS.Signals): number[];
export function killTree(root: number): Promise<void>;
export function endTree(root: number, signal: NodeJS.Signals, graceMs: number): Promise<void>;
