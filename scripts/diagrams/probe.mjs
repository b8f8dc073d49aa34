// Which part of an id belongs to which field, found out from the code that reads ids: change one bit or character, and see what reads
// differently.

import { inspect } from 'idsmith/inspect';

/** What a reading calls a field, and what the picture calls it. */
const NAMES = { timestamp: 'time', counter: 'counter', processId: 'process', macFragment: 'node' };

/** The fields of a UUID, from the highest bit to the lowest. */
export function uuidFields(uuid) {
  const bits = BigInt(`0x${uuid.replaceAll('-', '')}`);
  const [sample] = inspect(uuid);
  return runs(128, (i) => {
    const hex = (bits ^ (1n << BigInt(127 - i))).toString(16).padStart(32, '0');
    const changed = hex.replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    const reading = inspect(changed).find(({ family }) => family === sample.family);
    if (reading?.fields.version !== sample.fields.version) return 'version';
    if (reading.fields.timestamp === undefined) return 'variant';
    return changedField(sample.fields, reading.fields) ?? 'random';
  });
}

/** The fields of a sharded key, from its first character to its last. */
export function keyFields(key) {
  const [sample] = inspect(key);
  return runs(key.length, (i) => {
    const other = key[i] === '1' ? '2' : '1';
    const [reading] = inspect(key.slice(0, i) + other + key.slice(i + 1));
    if (reading?.fields.timestamp !== sample.fields.timestamp) return 'time';
    return reading.fields.variant === sample.fields.variant ? 'type' : 'variant';
  });
}

function changedField(before, after) {
  return Object.keys(NAMES)
    .filter((name) => before[name] !== after[name])
    .map((name) => NAMES[name])[0];
}

/** Neighbours of the same field as one. */
function runs(length, fieldOf) {
  const fields = [];
  for (let i = 0; i < length; i++) {
    const name = fieldOf(i);
    if (fields.at(-1)?.name === name) fields.at(-1).size++;
    else fields.push({ name, size: 1 });
  }
  return fields;
}
