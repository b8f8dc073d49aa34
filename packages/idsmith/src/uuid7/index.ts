export { type Uuid7, uuid7 } from './uuid7.js';
