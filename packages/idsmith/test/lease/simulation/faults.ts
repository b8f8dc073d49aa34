import { COVERED_LOSS } from '../../../src/lineage/ceiling.ts';
import type { Simulation } from './simulation.ts';
import type { Worker } from './worker.ts';

/** Does something to a process or to the store; returns whether there was anything to do it to. */
type Fault = (simulation: Simulation, worker: Worker) => boolean;

const FAULTS: Readonly<Record<string, Fault>> = {
  /** It may be continued long after its lease has run out, and mints first thing. */
  'processes stopped'(simulation, worker) {
    const { timeline, random, plan } = simulation;
    const { machine } = worker;
    if (!machine.isRunning) return false;
    machine.stop();
    simulation.later(random.between(1, 4 * plan.ttl), () =>
      machine.continue(() => worker.mint(timeline.now)),
    );
    return true;
  },

  'processes killed'(simulation, worker) {
    const { random, plan } = simulation;
    worker.machine.die();
    simulation.workers = simulation.workers.filter((other) => other !== worker);
    simulation.later(random.between(1, plan.ttl), () => simulation.startWorker(worker.isLowered));
    return true;
  },

  /** Both go on with the same memory. Some platforms tell them so, and then they give up what they had in hand. */
  'processes copied'(simulation, worker) {
    return worker.machine.isRunning && simulation.copyWorker(worker, simulation.random.chance(0.5));
  },

  'processes cut off'(simulation, { machine }) {
    const { random, plan } = simulation;
    if (machine.isolated) return false;
    machine.isolated = true;
    simulation.later(random.between(1, 3 * plan.ttl), () => {
      machine.isolated = false;
    });
    return true;
  },

  /** A little, as time synchronisation does, or a lot. */
  'clocks set'({ random, plan: { ttl, maxSkew } }, { machine }) {
    const most = random.chance(0.6) ? Math.floor(maxSkew / 2) : 4 * ttl;
    machine.offset = random.between(-most, most);
    return true;
  },

  'leases released'(_, worker) {
    return worker.machine.isRunning && worker.release();
  },

  /** It may come back on another machine, whose clock is another. */
  'store restarts'(simulation) {
    const { store, random, plan } = simulation;
    if (!store.isUp) return false;
    store.isUp = false;
    simulation.later(random.between(1, plan.ttl), () => {
      store.restart();
      store.isUp = true;
      store.offset = random.between(-plan.maxSkew, plan.maxSkew);
    });
    return true;
  },
};

/** A fault of stores that tell their lineage: another server takes the place of the store, and does not have its last writes. */
const goBack: Fault = (simulation) => {
  const { store, random, plan } = simulation;
  if (!store.isUp) return false;
  store.isUp = false;
  simulation.later(random.between(1, random.pick([1, plan.ttl])), () => {
    store.goBack(random.between(0, Math.min(COVERED_LOSS, 3 * plan.ttl)));
    store.isUp = true;
    store.offset = random.between(-plan.maxSkew, plan.maxSkew);
  });
  return true;
};

const NAMES = Object.keys(FAULTS);
const WENT_BACK = 'store went back';

/** Injects some fault or other. */
export function applyFault(simulation: Simulation): void {
  const { random, workers, plan } = simulation;
  if (workers.length === 0) return;
  const name = random.pick(plan.store.tellsLineage ? [...NAMES, WENT_BACK] : NAMES);
  const worker = random.pick(workers);
  if (!(FAULTS[name] ?? goBack)(simulation, worker)) return;
  simulation.count(name);
  simulation.note(`${name}: ${worker.machine.name}`);
}
