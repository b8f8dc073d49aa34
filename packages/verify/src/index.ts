// Runs on stores that a test or a script starts. Not public: names change without notice.

export { FaultyProxy, type Loss } from './proxy/faulty-proxy.js';
export { type ChaosOptions, type ChaosReport, runChaos, showChaosReport } from './runs/chaos.js';
export { type RedisSetup, type ReshardRunOptions, runReshard } from './runs/reshard/run.js';
export { runSoak, type SoakOptions, type SoakReport } from './runs/soak.js';
export {
  behindProxy,
  CHAOS_NAMESPACE,
  NODE_IDS,
  type TrialServer,
  type TrialSetup,
  type TrialStore,
  TTL,
} from './runs/trial-store.js';
