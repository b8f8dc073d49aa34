// Ids made in a page: no request, no server.

import { Uuid7Generator } from 'idsmith';
import { inspect } from 'idsmith/inspect';

const drafts = new Uuid7Generator();
const list = document.querySelector('#drafts');
const field = document.querySelector('#id');
const reading = document.querySelector('#reading');

document.querySelector('#add').addEventListener('click', () => {
  const item = document.createElement('li');
  item.textContent = drafts.next();
  list.append(item);
});

field.addEventListener('input', () => {
  const [best] = inspect(field.value.trim());
  reading.textContent = best === undefined ? 'not an id' : `${best.family}, ${best.reason}`;
});
