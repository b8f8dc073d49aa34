import { COVERED_LOSS } from '../../../src/lineage/ceiling.ts';
import type { Client } from './client.ts';
import type { Simulation } from './simulation.ts';

/** Does something to a process or to the store; returns whether there was anything to do it to. */
type Fault = (simulation: Simulation, client: Client) => boolean;

const FAULTS: Readonly<Record<string, Fault>> = {
  'processes stopped'(simulation, { machine }) {
    if (!machine.isRunning) return false;
    machine.stop();
    simulation.later(simulation.random.between(1, 4000), () => machine.continue(() => {}));
    return true;
  },

  /** What it had at hand is a gap. Its last requests may still arrive. */
  'processes killed'(simulation, client) {
    client.machine.die();
    simulation.clients = simulation.clients.filter((other) => other !== client);
    simulation.later(simulation.random.between(1, 500), () => simulation.startClient());
    return true;
  },

  'processes cut off'(simulation, { machine }) {
    if (machine.isolated) return false;
    machine.isolated = true;
    simulation.later(simulation.random.between(1, 1000), () => {
      machine.isolated = false;
    });
    return true;
  },

  'clocks set'({ random }, { machine }) {
    machine.offset = random.between(-5000, 5000);
    return true;
  },

  'sequences closed'(_, client) {
    return client.reopen();
  },

  'sequences altered'({ plan }, client) {
    return plan.isAltered && client.alter(plan.isCycled);
  },

  'sequences removed'(simulation) {
    if (!simulation.plan.isRemoved || !simulation.random.chance(0.2)) return false;
    void simulation.define();
    return true;
  },

  'store away'(simulation) {
    const { server, random } = simulation;
    if (!server.isUp) return false;
    server.isUp = false;
    simulation.later(random.between(1, 600), () => {
      server.isUp = true;
    });
    return true;
  },
};

/** A fault of stores that tell their lineage: another server takes the place of the store, and does not have its last writes. */
const goBack: Fault = ({ server, random, isCovered }) => {
  if (!isCovered) return false;
  server.goBack(random.between(0, COVERED_LOSS));
  return true;
};

const NAMES = Object.keys(FAULTS);
const WENT_BACK = 'store went back';

/** Injects some fault or other. */
export function applyFault(simulation: Simulation): void {
  const { random, clients, plan } = simulation;
  if (clients.length === 0) return;
  const names = plan.rewinds ? [...NAMES, WENT_BACK] : NAMES;
  const name = plan.isChurning && random.chance(0.8) ? 'sequences closed' : random.pick(names);
  const client = random.pick(clients);
  if (!(FAULTS[name] ?? goBack)(simulation, client)) return;
  simulation.count(name);
  simulation.note(`${name}: ${client.machine.name}`);
}
