// The changes that are tried on a source file, found in its syntax tree.

import { parseAst } from 'vitest/node';

const BOUNDARY = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' };
const EQUALITY = { '===': '!==', '!==': '===' };
const ARITHMETIC = { '+': '-', '-': '+', '*': '/', '/': '*', '%': '*' };
const LOGIC = { '&&': '||', '||': '&&' };
const ASSIGNMENT = { '+=': '-=', '-=': '+=', '||=': '&&=', '&&=': '||=' };
const METHODS = { max: 'min', min: 'max', some: 'every', every: 'some', floor: 'ceil', ceil: 'floor' };

/** Nodes without anything to change: types, names of modules, texts for people. */
const SKIPPED = new Set(['ImportDeclaration', 'ExportAllDeclaration', 'TemplateLiteral', 'Super']);
const TYPED = new Set(['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression']);

/**
 * The mutants of a source file, in the order of their lines. A mutant of a constant of the module is switched where the constant is
 * used, because the constant has its value before any test begins.
 *
 * @returns {{places: {start: number, end: number}[], line: number, where: string, kind: string, from: string, to: string}[]}
 */
export function findMutants(source) {
  const found = [];
  const lineOf = (offset) => source.slice(0, offset).split('\n').length;
  const text = ({ start, end, type }) => {
    const isPlain = /^(Member|Call|Chain|This|New)|Literal|Identifier|Array|Object|Spread/.test(type);
    return isPlain ? source.slice(start, end) : `(${source.slice(start, end)})`;
  };
  const add = ({ start, end }, where, kind, to) =>
    found.push({
      places: [{ start, end }],
      line: lineOf(start),
      where,
      kind,
      from: source.slice(start, end),
      to,
      code: to,
    });
  const tree = parseAst(source, { lang: 'ts' });
  visit(tree, 'module', { add, text });
  const constants = constantsOf(tree);
  return found.flatMap((mutant) => {
    const [{ start, end }] = mutant.places;
    const constant = constants.find(({ init }) => init.start <= start && end <= init.end);
    if (constant === undefined) return [mutant];
    const { init, id } = constant;
    const code = source.slice(init.start, start) + mutant.to + source.slice(end, init.end);
    const places = usesOf(tree, id);
    return places.length === 0 ? [] : [{ ...mutant, places, code, where: id.name }];
  });
}

/** The constants of a module, other than functions. */
function constantsOf({ body }) {
  return body
    .map((statement) => statement.declaration ?? statement)
    .filter(({ type, declare }) => type === 'VariableDeclaration' && !declare)
    .flatMap(({ declarations }) => declarations)
    .filter(({ init }) => init && init.type !== 'ArrowFunctionExpression');
}

/** The places where a constant is read. */
function usesOf(node, id) {
  if (node.type === 'Identifier') return node.name === id.name && node.start !== id.start ? [node] : [];
  if (node.type.startsWith('TS') && !TYPED.has(node.type)) return [];
  if (node.type.startsWith('Import') || node.type === 'ExportSpecifier') return [];
  if (node.type === 'Property' && node.shorthand) return [];
  return childrenOf(node, true).flatMap((child) => usesOf(child, id));
}

function visit(node, where, tools) {
  if (SKIPPED.has(node.type)) return;
  if (node.type.startsWith('TS') && !TYPED.has(node.type)) return;
  mutate(node, where, tools);
  const inside = nameOf(node) ?? where;
  for (const child of childrenOf(node)) visit(child, inside, tools);
}

/** The name of a function, method or class field, for the list of mutants. */
function nameOf({ type, id, key, init }) {
  if (type === 'FunctionDeclaration') return id?.name;
  if (type === 'MethodDefinition' || type === 'PropertyDefinition') return key.name;
  if (type === 'Property' && key.type === 'Identifier') return undefined;
  if (type === 'VariableDeclarator' && init?.type === 'ArrowFunctionExpression') return id.name;
  return undefined;
}

function childrenOf(node, withMessages = false) {
  if (isMessage(node) && !withMessages) return [];
  const children = [];
  for (const [field, value] of Object.entries(node)) {
    if ((field === 'key' || field === 'property') && !node.computed) continue;
    for (const child of Array.isArray(value) ? value : [value])
      if (typeof child?.type === 'string') children.push(child);
  }
  return children;
}

/** Tells whether a node makes an error: its arguments are texts for people. */
function isMessage({ type, callee }) {
  if (type === 'NewExpression') return /Error$|Refusal$/.test(callee.name ?? '');
  return type === 'CallExpression' && callee.type === 'Identifier' && callee.name === 'refuse';
}

function mutate(node, where, { add, text }) {
  const change = (kind, to, at = node) => add(at, where, kind, to);
  const operator = (table, kind) => {
    const other = table[node.operator];
    if (other) change(kind, `${text(node.left)} ${other} ${text(node.right)}`);
  };
  switch (node.type) {
    case 'BinaryExpression':
      operator(BOUNDARY, 'boundary');
      operator(EQUALITY, 'equality');
      if (!isText(node.left) && !isText(node.right)) operator(ARITHMETIC, 'arithmetic');
      break;
    case 'LogicalExpression':
      operator(LOGIC, 'logic');
      if (node.operator === '??') change('left only', text(node.left));
      if (node.operator === '??') change('right only', text(node.right));
      break;
    case 'AssignmentExpression':
      operator(ASSIGNMENT, 'assignment');
      break;
    case 'UpdateExpression':
      change(
        'arithmetic',
        text(node).replace(/\+\+|--/, (sign) => (sign === '++' ? '--' : '++')),
      );
      break;
    case 'UnaryExpression':
      if (node.operator === '!' || node.operator === '-') change('sign removed', text(node.argument));
      break;
    case 'AwaitExpression':
      change('await removed', text(node.argument));
      break;
    case 'Literal':
      for (const to of otherLiterals(node)) change('constant', to);
      break;
    case 'CallExpression':
      mutateCall(node, change, text);
      break;
    case 'IfStatement':
    case 'ConditionalExpression':
      change('condition', 'true', node.test);
      change('condition', 'false', node.test);
      break;
    case 'WhileStatement':
      change('condition', 'false', node.test);
      break;
    case 'ExpressionStatement':
      if (!isSuperCall(node.expression) && !node.directive) change('statement removed', '');
      break;
    case 'ThrowStatement':
    case 'BreakStatement':
    case 'ContinueStatement':
      change('statement removed', '');
      break;
    case 'ReturnStatement':
      if (node.argument === null) change('statement removed', '');
      else if (mayReturnNothing(node.argument)) change('returned', 'undefined', node.argument);
      break;
    case 'ArrowFunctionExpression':
      if (node.body.type !== 'BlockStatement' && mayReturnNothing(node.body))
        change('returned', 'undefined', node.body);
  }
}

function mutateCall({ callee, arguments: given }, change, text) {
  const name = callee.type === 'MemberExpression' && !callee.computed && callee.property.name;
  if (!Object.hasOwn(METHODS, name || '')) return;
  const isKnown = callee.object.name === 'Math' || name === 'some' || name === 'every';
  if (isKnown) change('method', `${text(callee.object)}.${METHODS[name]}(${given.map(text).join(', ')})`);
}

function otherLiterals({ value, raw, bigint }) {
  if (typeof value === 'boolean') return [String(!value)];
  if (bigint !== undefined) return [`${BigInt(bigint) + 1n}n`, `(${BigInt(bigint) - 1n}n)`];
  if (typeof value !== 'number') return [];
  return [`${raw.replaceAll('_', '')} + 1`, `${raw.replaceAll('_', '')} - 1`].map((to) => `(${to})`);
}

const isText = ({ type, value }) => type === 'TemplateLiteral' || typeof value === 'string';
const isSuperCall = ({ type, callee }) => type === 'CallExpression' && callee.type === 'Super';
/** Constants have changes of their own, and `undefined` would be the same. */
const mayReturnNothing = ({ type, value, name }) =>
  !(type === 'Literal' && typeof value !== 'string') && name !== 'undefined';
