// The way of frameworks' plugins to their ids. Not public, and apart from `idsmith/internal`, which browsers load: this entry
// knows every store.

export { idsOf, type PluginConnection, requireConnection } from '../connect/for-plugins.js';
