/** Which folder of src may import which. */
import { posix } from 'node:path';
import {
  isCallExpression,
  isExportDeclaration,
  isImportDeclaration,
  isImportTypeNode,
  isLiteralTypeNode,
  type Node,
  SyntaxKind,
} from 'typescript/unstable/ast';
import { finding, isTest, literal, type Source, type SourceRule, walk } from '../source.ts';

interface Layer {
  readonly may: readonly string[];
  readonly why: string;
}

const BASE = ['lib', 'domain'];
const LEAF_WHY =
  'store, runners, probes and push stand side by side: app.ts and the daemon bring them together, they get ' +
  'data and report by callbacks.';

/** Folder (or file directly in src) to the folders that it may import besides itself. */
const LAYERS: Readonly<Record<string, Layer>> = {
  'version.ts': { may: [], why: 'It is a constant.' },
  lib: { may: [], why: 'lib is the ground: small things without a word of the product.' },
  domain: { may: ['lib'], why: 'domain is pure: it decides from facts that it is handed.' },
  views: { may: BASE, why: 'views says what an answer may hold; what fills and shows it is above.' },
  config: { may: BASE, why: 'config reads the settings before anything else is there.' },
  store: { may: BASE, why: LEAF_WHY },
  runners: { may: BASE, why: LEAF_WHY },
  dial: { may: BASE, why: LEAF_WHY },
  probes: { may: [...BASE, 'dial'], why: LEAF_WHY },
  push: { may: [...BASE, 'dial'], why: LEAF_WHY },
  jobs: {
    may: [...BASE, 'store'],
    why: 'jobs says how a job is requested, by any caller: it is below reaction and operations.',
  },
  reaction: {
    may: [...BASE, 'config', 'store', 'jobs'],
    why: 'reaction decides on events and writes the outcome; what it starts, it starts by a row in the store.',
  },
  doctor: {
    may: [...BASE, 'config', 'store'],
    why:
      'doctor looks; facts about other parts are handed in by app.ts, so that a broken part cannot break the ' +
      'examination.',
  },
  operations: {
    may: [...BASE, 'views', 'config', 'store', 'dial', 'probes', 'push', 'jobs', 'reaction', 'doctor'],
    why:
      'An operation only enqueues: it never runs a job itself, and it does not know through which face it was ' +
      'called.',
  },
  faces: {
    may: [...BASE, 'views', 'config', 'reaction', 'doctor', 'operations'],
    why: 'A face reaches the store only through an operation, because scope is checked there.',
  },
  daemon: {
    may: [
      ...BASE,
      'views',
      'config',
      'store',
      'runners',
      'dial',
      'probes',
      'push',
      'jobs',
      'reaction',
      'doctor',
      'operations',
    ],
    why: 'The loops of the daemon stand apart from the faces: both are started by app.ts.',
  },
};

/** These wire everything, and nothing imports them but each other. */
const ROOTS = ['app.ts', 'app', 'main.ts', 'program.ts', 'server.ts'];

/** Files that every layer may import. */
const FOR_ALL = ['version.ts'];

/** Packages that belong to one layer, so that what they stand for stays there. */
const PACKAGE_HOMES: Readonly<Record<string, string>> = {
  kysely: 'store',
  pg: 'store',
  'node:sqlite': 'store',
  'find-my-way': 'faces',
  '@modelcontextprotocol': 'faces',
};

export const layerRule: SourceRule = {
  why:
    'The layers keep a change in one place: lib <- domain <- store | runners | probes | push; store <- ' +
    'reaction, doctor <- operations <- faces.',
  find(source) {
    const from = layerOf(source.path);
    if (from === undefined) return [];
    if (!ROOTS.includes(from) && LAYERS[from] === undefined) {
      return [{ path: source.path, what: `src/${from} is not in the table of layers (test/tidy/folders/layers.ts)` }];
    }
    return importsOf(source).flatMap(({ node, target }) => {
      const what =
        target === undefined
          ? 'an import whose target is not a literal cannot be checked'
          : judge(source.path, from, target);
      return what === undefined ? [] : [finding(source, node, what)];
    });
  },
};

function judge(path: string, from: string, target: string): string | undefined {
  if (!target.startsWith('.')) return judgePackage(path, from, target);
  const resolved = posix.join(posix.dirname(path), target);
  const to = layerOf(resolved);
  if (to === undefined) {
    return isTest(path) ? undefined : `imports ${resolved}: the program imports nothing from outside of src`;
  }
  if (to === from || ROOTS.includes(from) || FOR_ALL.includes(to)) return undefined;
  const layer = LAYERS[from];
  if (layer?.may.includes(to) === true) return undefined;
  return `src/${from} imports ${resolved}, but may import ${layer?.may.join(', ') || 'nothing'}. ${layer?.why ?? ''}`;
}

function judgePackage(path: string, from: string, target: string): string | undefined {
  const home = PACKAGE_HOMES[target.startsWith('node:') ? target : (target.split('/')[0] ?? '')];
  if (home === undefined || home === from || isTest(path)) return undefined;
  return `imports ${target}, which only src/${home} may: take it from there behind a function or type of ours`;
}

/** `src/store/x/y.ts` is of `store`, `src/app.ts` of `app.ts`; undefined outside of src. */
function layerOf(path: string): string | undefined {
  const [top, second] = path.split('/');
  return top === 'src' ? second : undefined;
}

/** All imports: static, `import type`, re-exports, `import()` as expression and as type, `require`. */
export function importsOf(source: Source): { node: Node; target: string | undefined }[] {
  const found: { node: Node; target: string | undefined }[] = [];
  walk(source.tree, (node) => {
    if (isImportDeclaration(node)) found.push({ node, target: literal(node.moduleSpecifier) });
    else if (isExportDeclaration(node) && node.moduleSpecifier !== undefined)
      found.push({ node, target: literal(node.moduleSpecifier) });
    else if (isImportTypeNode(node))
      found.push({ node, target: isLiteralTypeNode(node.argument) ? literal(node.argument.literal) : undefined });
    else if (isCallExpression(node) && loads(node.expression)) found.push({ node, target: literal(node.arguments[0]) });
  });
  return found;
}

function loads(callee: Node): boolean {
  return (
    callee.kind === SyntaxKind.ImportKeyword ||
    (callee.kind === SyntaxKind.Identifier && callee.getText() === 'require')
  );
}
