/** Time, chance and the environment come in by the door. */
import {
  isBindingElement,
  isCallExpression,
  isElementAccessExpression,
  isIdentifier,
  isImportDeclaration,
  isNamedImports,
  isNewExpression,
  isPropertyAccessExpression,
  isVariableDeclaration,
  type Node,
  SyntaxKind,
} from 'typescript/unstable/ast';
import { isTest, judgeNodes, literal, type SourceRule } from './source.ts';

/** The doors, and the child programs and the entry that run before or without them. */
const DOORS = [
  'src/lib/clock.ts',
  'src/lib/random.ts',
  'src/lib/flow/event-batch.ts', // Counts events, and takes no time.
  'src/config/',
  'src/main.ts',
  'src/program.ts',
  'src/runners/process/lean.ts', // A part of the guard; a daemon uses it only to give memory back.
  'src/runners/process/guard-child.ts',
];

const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  Date: ['now'],
  performance: ['now', 'timeOrigin'],
  Math: ['random'],
  process: ['env', 'hrtime'],
};

const GLOBALS = ['setTimeout', 'setInterval'];

/** Modules to what of them belongs behind a door. */
const MODULES: Readonly<Record<string, readonly string[]>> = {
  timers: GLOBALS,
  'timers/promises': [...GLOBALS, 'scheduler'],
  process: ['env', 'hrtime'],
  perf_hooks: ['performance'],
};

export const doorRule: SourceRule = {
  why:
    'A test drives time and chance only where they come in by lib/clock and lib/random, and a setting has help ' +
    'and a default only in config.',
  find(source) {
    const exempt =
      !source.path.startsWith('src/') || isTest(source.path) || DOORS.some((door) => source.path.startsWith(door));
    return exempt ? [] : judgeNodes(source, judge);
  },
};

function judge(node: Node): string | undefined {
  const used = member(node) ?? destructured(node) ?? globalTimer(node) ?? dateOfNow(node) ?? imported(node);
  return used === undefined ? undefined : `uses ${used}`;
}

/** `Date.now`, `process['env']`, `globalThis.setTimeout`. */
function member(node: Node): string | undefined {
  if (!isPropertyAccessExpression(node) && !isElementAccessExpression(node)) return undefined;
  const name = isPropertyAccessExpression(node) ? node.name.text : literal(node.argumentExpression);
  const owner = isPropertyAccessExpression(node.expression) ? node.expression.name : node.expression;
  if (name === undefined || !isIdentifier(owner)) return undefined;
  const forbidden = owner.text === 'globalThis' ? GLOBALS.includes(name) : owns(owner.text, name);
  return forbidden ? `${owner.text}.${name}` : undefined;
}

/** `const { env } = process`. */
function destructured(node: Node): string | undefined {
  if (!isBindingElement(node)) return undefined;
  const declaration = node.parent.parent;
  if (
    !isVariableDeclaration(declaration) ||
    declaration.initializer === undefined ||
    !isIdentifier(declaration.initializer)
  )
    return undefined;
  const owner = declaration.initializer.text;
  const name = (node.propertyName ?? node.name)?.getText();
  return name !== undefined && owns(owner, name) ? `${owner}.${name}` : undefined;
}

function owns(owner: string, name: string): boolean {
  return Object.hasOwn(MEMBERS, owner) && MEMBERS[owner]?.includes(name) === true;
}

/** The global functions, called or handed on; not a `socket.setTimeout`, a key of that name or a `typeof` in a type. */
function globalTimer(node: Node): string | undefined {
  if (!isIdentifier(node) || !GLOBALS.includes(node.text)) return undefined;
  const { parent } = node;
  const isName = 'name' in parent && parent.name === node && parent.kind !== SyntaxKind.ShorthandPropertyAssignment;
  return isName || parent.kind === SyntaxKind.TypeQuery ? undefined : node.text;
}

/** `new Date()` and `Date()`, which are now; `new Date(ms)` is a conversion. */
function dateOfNow(node: Node): string | undefined {
  const called = isCallExpression(node);
  if (!called && !isNewExpression(node)) return undefined;
  if (!isIdentifier(node.expression) || node.expression.text !== 'Date') return undefined;
  return called || (node.arguments?.length ?? 0) === 0 ? 'the time of now by Date()' : undefined;
}

function imported(node: Node): string | undefined {
  if (!isImportDeclaration(node)) return undefined;
  const module = literal(node.moduleSpecifier)?.replace(/^node:/, '');
  const forbidden = module !== undefined && Object.hasOwn(MODULES, module) ? MODULES[module] : undefined;
  const bindings = node.importClause?.namedBindings;
  if (forbidden === undefined || bindings === undefined || !isNamedImports(bindings)) return undefined;
  const names = bindings.elements.map((element) => (element.propertyName ?? element.name).text);
  const name = names.find((each) => forbidden.includes(each));
  return name === undefined ? undefined : `${name} of node:${module}`;
}
