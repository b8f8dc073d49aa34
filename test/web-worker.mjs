// A web worker that mints in sequential mode, for the smoke test.
import { LocalityGenerator } from 'idsmith';

postMessage(new LocalityGenerator({ mode: 'sequential' }).batch(20_000));
