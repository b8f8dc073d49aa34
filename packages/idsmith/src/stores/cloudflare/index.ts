export { type D1Binding, d1Store } from './d1.js';
export {
  type DurableObjectState,
  type DurableObjectStub,
  durableObjectStore,
  IdStoreObject,
} from './durable-object.js';
