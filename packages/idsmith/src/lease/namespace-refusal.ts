import { InvalidOptionError } from '../errors.js';

/** An option that is right by itself, but that the namespace does not allow. A process that needs it has no lease. */
export class NamespaceRefusal extends InvalidOptionError {}
