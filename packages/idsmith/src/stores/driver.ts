export { loadPackage as loadDriver } from '../support/load-package.js';
export { ownedStore } from './owned-store.js';
export { requireSettings } from './url.js';
