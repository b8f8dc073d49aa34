// The packages and their rooms as the floors of a house, from the lists of ARCHITECTURE.md, and the way of an id through it.

import { existsSync, readFileSync } from 'node:fs';
import { box, picture, text, WIDTH } from './svg.mjs';

const root = new URL('../../', import.meta.url);

/** The way of the commonest id: a flake of a leased node id. Each step names the room where it happens, and the files to read. */
const WAY = [
  ['connect', 'connect() opens the store of a URL', ['connect/ids.ts']],
  ['stores', 'one folder a backend', ['stores/open.ts', 'stores/postgres/store.ts']],
  ['connect', 'flakes() keeps one leased generator for all callers', ['connect/leased-pool.ts']],
  ['lease', 'which node id is free, and until when', ['lease/acquire.ts', 'lease/protocol.ts']],
  ['stores', 'one statement compares and swaps the record', ['stores/sql/leases.ts']],
  ['flake', 'next() mints within the window, and asks nobody', ['flake/generator.ts', 'flake/claims.ts']],
];

/** A package, and a room in it. */
const STYLE = `
  .house { fill: none; stroke: #6b7280 } .room { fill: #9ca3af; fill-opacity: 0.25 }
  .way { fill: none; stroke: #2563eb; stroke-width: 1.5; stroke-dasharray: 4 3 }`;

const [GAP, PAD, CHIP, TITLE, FLOOR] = [8, 10, 22, 26, 40];
/** The width of a letter, and of what stands beside the name of a room. */
const [LETTER, BESIDE] = [7, 14];

export function house() {
  const lists = readLists();
  const body = [];
  const chips = new Map();
  let top = 4;
  for (const names of floorsOf(lists.get('packages'))) {
    const widths = shares(names.map((name) => roomsOf(lists, name).length));
    const drawn = names.map((name, i) => {
      const floors = floorsOf(lists.get(`packages/${name}/src`));
      return name === 'idsmith' ? onFloors(floors, widths[i]) : inRows(floors, widths[i]);
    });
    const height = Math.max(...drawn.map((each) => each.height));
    let left = 0;
    for (const [i, name] of names.entries()) {
      body.push(box(left, top, widths[i], height, 'house'));
      body.push(text(left + PAD, top + 16, name === 'idsmith' ? name : `@idsmith/${name}`));
      for (const { room, x, y, width } of drawn[i].chips) {
        const chip = { x: left + x, y: top + y, width };
        body.push(box(chip.x, chip.y, width, CHIP, 'room'));
        body.push(text(chip.x + width / 2, chip.y + 15, room, { of: 'small', anchor: 'middle' }));
        if (name === 'idsmith') chips.set(room, chip);
      }
      left += widths[i] + GAP;
    }
    top += height + GAP;
  }
  body.unshift(...drawWay(chips));
  body.push(...legend(top + 14));
  const height = top + 14 + WAY.length * 20;
  return picture('The packages, their rooms, and the way of a flake through them', height, body, STYLE);
}

/** The lists of edges in ARCHITECTURE.md. */
function readLists() {
  const page = readFileSync(new URL('ARCHITECTURE.md', root), 'utf8');
  return new Map(
    [...page.matchAll(/^```edges (\S+)\n([\s\S]*?)^```$/gm)].map(([, folder, block]) => [
      folder,
      new Map(
        block
          .trim()
          .split('\n')
          .map((row) => row.split('→').map((part) => part.trim()))
          .map(([room, imports]) => [room, imports === '—' ? [] : imports.split(/[\s,]+/)]),
      ),
    ]),
  );
}

const roomsOf = (lists, name) => [...(lists.get(`packages/${name}/src`)?.keys() ?? [])];

/** Rows of names, each of which imports only names of rows below its own. */
function floorsOf(edges = new Map()) {
  const heights = new Map();
  const heightOf = (name) => {
    if (!heights.has(name)) heights.set(name, Math.max(-1, ...(edges.get(name) ?? []).map(heightOf)) + 1);
    return heights.get(name);
  };
  const floors = [];
  for (const name of edges.keys()) floors[heightOf(name)] = [...(floors[heightOf(name)] ?? []), name];
  return floors.reverse();
}

/** The widths of packages beside each other. */
function shares(counts) {
  const room = WIDTH - GAP * (counts.length - 1);
  // Wide enough for the name of a package with few rooms.
  const weights = counts.map((count) => Math.max(6, count));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => (room * weight) / sum);
}

/** The chips of the rooms of a package: the upper floors first, as many in a row as there is place for. */
function inRows(floors, width) {
  const chips = [];
  let [x, y] = [PAD, TITLE];
  for (const room of floors.flat()) {
    const size = sizeOf(room);
    if (x > PAD && x + size > width - PAD) [x, y] = [PAD, y + CHIP + 4];
    chips.push({ room, x, y, width: size });
    x += size + 6;
  }
  return { chips, height: y + CHIP + PAD };
}

/** The chips of the rooms of a package, one row a floor. Rooms on the way stand below each other on the left. */
function onFloors(floors, width) {
  const isOnWay = (room) => WAY.some(([step]) => step === room);
  const chips = floors.flatMap((all, row) => {
    const floor = all.toSorted((a, b) => Number(isOnWay(b)) - Number(isOnWay(a)));
    const cell = (width - 2 * PAD) / floor.length;
    return floor.map((room, i) => ({
      room,
      x: PAD + cell * (i + 0.5) - sizeOf(room) / 2,
      y: TITLE + row * FLOOR,
      width: sizeOf(room),
    }));
  });
  return { chips, height: TITLE + floors.length * FLOOR };
}

const sizeOf = (room) => room.length * LETTER + BESIDE;

/** The steps as numbers beside their rooms, joined by a line. A room that is visited again has its numbers on both sides. */
function drawWay(chips) {
  const visited = new Set();
  const points = WAY.map(([room]) => {
    const { x, y, width } = chips.get(room) ?? missing(`the room ${room}`);
    const isAgain = visited.has(room);
    visited.add(room);
    return [isAgain ? x + width + 10 : x - 10, y + CHIP / 2];
  });
  return [
    ...points.slice(1).map(([x, y], i) => curve(...points[i], x, y)),
    ...points.flatMap(([x, y], i) => number(x, y, i + 1)),
  ];
}

const curve = (x1, y1, x2, y2) =>
  `<path class="way" d="M${x1} ${y1}C${x1} ${(y1 + y2) / 2} ${x2} ${(y1 + y2) / 2} ${x2} ${y2}"/>`;

const number = (x, y, step) => [
  box(x - 8, y - 8, 16, 16, 'first'),
  text(x, y + 4.5, step, { of: 'on', anchor: 'middle' }),
];

function legend(top) {
  return WAY.flatMap(([, meaning, files], i) => {
    for (const file of files)
      if (!existsSync(new URL(`packages/idsmith/src/${file}`, root))) missing(`the file ${file}`);
    const y = top + i * 20;
    return [
      ...number(8, y - 4.5, i + 1),
      text(26, y, meaning),
      text(WIDTH, y, files.join(' → '), { of: 'small', anchor: 'end' }),
    ];
  });
}

function missing(what) {
  throw new Error(`scripts/diagrams/house.mjs: ${what} is not there any more`);
}
