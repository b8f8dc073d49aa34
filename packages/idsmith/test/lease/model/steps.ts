import { NAMESPACE_ID } from '../../../src/lease/protocol.ts';
import { afterWork, answered, goOn } from './process.ts';
import type { Rules } from './rules.ts';
import { type Process, type Put, restarted, type State, type Swap, usable, type World } from './state.ts';

/** One thing that can happen next: what, and the world after it. */
export type Step = [what: string, next: State];

/** Everything that can happen next. A pause is when nothing of a process is chosen for a while. */
export function steps(state: State, world: World, rules: Rules): Step[] {
  const found: Step[] = [];
  for (let p = 0; p < state.processes.length; p++) {
    const process = state.processes[p]!;
    const put = (what: string, next: Process, rest?: Partial<State>) => {
      const processes = [...state.processes];
      processes[p] = next;
      found.push([`P${p} ${what}`, { ...state, ...rest, processes }]);
    };
    goOn(process, state, world, rules, put);
    mint(process, state, world, rules, put);
    meetStore(process, state, world, rules, put);
    fail(process, state, rules, put);
    if (world.copies) copy(p, state, found);
  }
  for (const [i, stray] of state.strays.entries()) {
    const { records } = execute(state, stray, world, rules);
    const strays = state.strays.filter((_, other) => other !== i);
    found.push([`a late request ${show(stray)} arrives`, { ...state, records, strays }]);
  }
  for (const by of new Set([1, world.ttl])) {
    if (state.time + by <= world.end) found.push([`${by} passes`, { ...state, time: state.time + by }]);
  }
  if (world.rewinds && state.lineage === 0) found.push(...rewind(state, world));
  if (!world.durable && state.faults > 0 && state.records.some(Boolean)) {
    const records = state.records.map(() => undefined);
    found.push(['the store loses everything', { ...state, records, faults: state.faults - 1 }]);
  }
  return found;
}

/** A replica stops to get changes, and is promoted some time later: everything that was acknowledged in between is gone. */
function rewind(state: State, { notes }: World): Step[] {
  const { replica, records, lineage, time, behindSince = time } = state;
  if (!replica)
    return [
      ['the replica falls behind', { ...state, replica: records, ...(notes && { behindSince: time }) }],
    ];
  if (notes && time - behindSince > notes.covered) return [];
  const after = { ...state, records: replica, replica: undefined, lineage: lineage + 1 };
  return [['the store goes back', { ...after, behindSince: undefined }]];
}

/** The holder's clock may show anything near the store's time, and have jumped there from anywhere. */
function mint(process: Process, state: State, world: World, rules: Rules, put: Put): void {
  const { node, from, until } = usable(process);
  if (node < 0 || !world.mints) return;
  const stamps = new Set(
    [-world.clockError, 0, world.clockError].map((error) => Math.max(from, state.time + error)),
  );
  for (const stamp of stamps) {
    if (rules.stopsAtUntil && stamp >= until) continue;
    const used = [...state.used];
    used[node] = used[node]! | (1 << stamp);
    put(`mints ${node}@${stamp}`, stamping(process, stamp, world, rules), { used });
  }
}

function stamping(process: Process, stamp: number, { followsClock }: World, rules: Rules): Process {
  const lastUsed = rules.tellsHighest ? Math.max(process.lastUsed, stamp) : stamp;
  return followsClock
    ? { ...process, lastUsed, stamped: process.stamped | (1 << stamp) }
    : { ...process, lastUsed, floor: stamp + 1 };
}

/** A request is executed, perhaps twice, and answered; both may take any time. */
function meetStore(process: Process, state: State, world: World, rules: Rules, put: Put): void {
  const { task } = process;
  if (task?.kind !== 'swap') return;
  const { records, answer } = execute(state, task, world, rules);
  const executed = { ...process, task: { ...task, answer } };
  const faults = state.faults - 1;
  if (task.answer === undefined) {
    put(`has ${show(task)} executed: ${answer}`, executed, { records });
    if (faults >= 0) {
      const strays = [...state.strays, requestOf(task)];
      put(`has ${show(task)} executed: ${answer}, and repeated`, executed, { records, faults, strays });
    }
  } else {
    answered(process, task, state, world, rules, put);
    if (faults >= 0) put(`has ${show(task)} executed again: ${answer}`, executed, { records, faults });
  }
}

const requestOf = ({ expected, next, birth }: Swap): Swap => ({ expected, next, ...(birth && { birth }) });

/** The answer does not come, the request is late or lost, or the process dies and another starts in its place. */
function fail(process: Process, state: State, rules: Rules, put: Put): void {
  const { task, held } = process;
  if (state.faults === 0) return;
  const faults = state.faults - 1;
  const late =
    task?.kind === 'swap' && task.answer === undefined
      ? { faults, strays: [...state.strays, requestOf(task)] }
      : undefined;
  if (held) {
    put('dies', restarted(process), { faults });
    if (late) put('dies, its request under way', restarted(process), late);
  }
  if (task === undefined) return;
  const isRelease = 'why' in task && task.why.startsWith('release');
  const after = isRelease || !held ? restarted(process) : afterWork(process, rules);
  put('hears nothing', after, { faults });
  if (late) put('hears nothing, its request under way', after, late);
}

/** A holder is copied, memory and all. What both have in hand at that moment is left out of the account. */
function copy(p: number, state: State, found: Step[]): void {
  const process = state.processes[p]!;
  if (!process.held || state.faults === 0) return;
  const { record, attempts } = process.held;
  const copiedUntil = Math.max(record.fence, ...attempts.map(({ fence }) => fence));
  const twin = { ...process, held: { ...process.held, copiedUntil } };
  for (const [q, other] of state.processes.entries()) {
    if (q === p || other.held || other.task) continue;
    const processes = [...state.processes];
    processes[p] = twin;
    processes[q] = twin;
    found.push([`P${p} is copied to P${q}`, { ...state, processes, faults: state.faults - 1 }]);
  }
}

/** The store's part: one atomic compare and swap. */
function execute(
  state: State,
  { expected, next, birth }: Swap,
  world: World,
  rules: Rules,
): { records: State['records']; answer: boolean } {
  const { records, time } = state;
  const isLate = next.id === NAMESPACE_ID && next.fence < time + world.maxTtl;
  // The record that must have the lineage of the store.
  const base = next.id === NAMESPACE_ID ? next : birth;
  const isPresent =
    base?.label === String(rules.toldLineage(state.lineage)) &&
    (birth === undefined || rules.sameRecord(records[0], birth));
  const isCompared = world.rewinds && base !== undefined && rules.comparesLineage;
  const answer =
    rules.sameRecord(records[next.id + 1], expected) &&
    !(isLate && rules.refusesLateBirth) &&
    !(isCompared && !isPresent);
  return { answer, records: answer ? records.with(next.id + 1, next) : records };
}

/** A swap in few characters: the node id, the owner, epoch, fence and expiry afterwards. */
function show({ next: { id, owner, epoch, fence, expiresAt } }: Swap): string {
  return `${id}→${owner ?? 'free'}/${epoch}/${fence}/${expiresAt}`;
}
