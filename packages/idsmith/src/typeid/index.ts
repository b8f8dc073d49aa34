export type { TypeIdText } from './form.js';
export { type TypeIdParts, type TypeIds, typeIds } from './type-ids.js';
