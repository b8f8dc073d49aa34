import type { SequenceHash } from './node-model.ts';
import type { Link, Process } from './process.ts';
import type { Restart } from './server.ts';
import type { Simulation } from './simulation.ts';

/** Does something to a process or to a server; returns whether there was anything to do it to. */
type Fault = (simulation: Simulation, process: Process, link: Link) => boolean;

const FAULTS: Readonly<Record<string, Fault>> = {
  /** Short where every message has to arrive in time. */
  'processes stopped'(simulation, { machine }) {
    if (!machine.isRunning) return false;
    machine.stop();
    const longest = simulation.plan.regime === 'outdated' ? 300 : 4000;
    simulation.later(simulation.random.between(1, longest), () => machine.continue(() => {}));
    return true;
  },

  'processes replaced'(simulation, process) {
    process.machine.die();
    simulation.processes = simulation.processes.filter((other) => other !== process);
    // Some have the wrong config.
    const { current, random } = simulation;
    const set = random.chance(0.7) ? current : current === 0 ? 1 : 0;
    simulation.later(random.between(1, 500), () => simulation.startProcess(set));
    return true;
  },

  'processes cut off'(simulation, { machine }) {
    if (simulation.plan.regime === 'outdated' || machine.isolated) return false;
    machine.isolated = true;
    simulation.later(simulation.random.between(1, 3000), () => {
      machine.isolated = false;
    });
    return true;
  },

  'nodes silent'(simulation, _, { server }) {
    if (simulation.plan.regime === 'outdated' || !server.isUp) return false;
    server.isUp = false;
    simulation.later(simulation.random.between(1, 3000), () => {
      server.isUp = true;
    });
    return true;
  },

  'clocks set'({ plan, random }, _, { server }) {
    const most = plan.regime === 'stepping' ? 20_000 : Math.floor(plan.maxSkew / 2);
    server.offset = random.between(-most, most);
    return true;
  },

  'nodes restarted'(simulation, _, { server }) {
    const { plan, random } = simulation;
    if (plan.regime === 'stepping') return false;
    // The host that takes over has a clock of its own.
    server.offset = random.between(0, plan.maxSkew) - Math.floor(plan.maxSkew / 2);
    const mayLose = isLossy(simulation, server);
    const how = mayLose ? random.pick<Restart>(['whole', 'empty', 'older']) : 'whole';
    server.restart(how, random, (sequence) => mayReturn(simulation, server, sequence));
    return true;
  },

  'sequences deleted'(simulation, _, { server }) {
    if (simulation.plan.regime === 'stepping' || !isLossy(simulation, server)) return false;
    server.node.hash = undefined;
    return true;
  },

  'snapshots taken'(_, __, { server }) {
    server.takeSnapshot();
    return true;
  },

  /** The direction changes only when the last handover is complete. Before that, it is tried again. */
  'handovers begun'(simulation) {
    const { links, plan } = simulation;
    const isOneWay = links.some(({ server }) => server.isGone);
    if (simulation.isHandedOver && !isOneWay) {
      simulation.current = simulation.current === 0 ? 1 : 0;
      simulation.isHandedOver = false;
    }
    if (plan.hasGone && simulation.current === 1) loseForGood(simulation);
    const mover = simulation.handOver();
    // Sometimes between two of its steps.
    if (simulation.random.chance(0.4))
      simulation.later(simulation.random.between(1, plan.timeout), () => {
        if (simulation.isHandedOver) return;
        simulation.count('movers killed');
        simulation.note(`${mover.name} is killed`);
        mover.die();
      });
    return true;
  },
};

function isLossy({ plan, links }: Simulation, server: Link['server']): boolean {
  return plan.lossy.some((number) => links[number]!.server === server);
}

/**
 * Tells whether an earlier state of a sequence may come back. A set that took over, gave minting to a set without a common node, and comes
 * back as it was while it minted, is one of the cases that docs/keys-operating.md names: nothing that it can see tells it of the other set.
 */
function mayReturn(simulation: Simulation, { address }: Link['server'], sequence: SequenceHash): boolean {
  const { plan, links, current, isHandedOver } = simulation;
  if (plan.regime !== 'disjoint' || sequence.generation === 1 || sequence.state === 'closed') return true;
  return isHandedOver && plan.sets[current].some((number) => links[number]!.server.address === address);
}

/** A server that only the first set has is lost. */
function loseForGood({ plan: { sets }, links }: Simulation): void {
  const number = sets[0].find((each) => !sets[1].includes(each));
  if (number !== undefined) links[number]!.server.isGone = true;
}

const NAMES = Object.keys(FAULTS);

/** Injects some fault or other. */
export function applyFault(simulation: Simulation): void {
  const { random, processes, links } = simulation;
  if (processes.length === 0) return;
  const name = random.pick(NAMES);
  const [process, link] = [random.pick(processes), random.pick(links)];
  if (!FAULTS[name]!(simulation, process, link)) return;
  simulation.count(name);
  simulation.note(`${name}: ${process.machine.name}, ${link.server.address}`);
}
