/** Rules for tests themselves. */
import {
  type CallExpression,
  isArrowFunction,
  isBinaryExpression,
  isCallExpression,
  isConditionalExpression,
  isFunctionDeclaration,
  isFunctionExpression,
  isIdentifier,
  isImportDeclaration,
  isNumericLiteral,
  isObjectLiteralExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  type Node,
  SyntaxKind,
} from 'typescript/unstable/ast';
import {
  at,
  type Finding,
  finding,
  isTest,
  judgeNodes,
  literal,
  type Samples,
  type Source,
  type SourceRule,
} from './source.ts';

const SUITES = ['describe', 'suite'];
const TESTS = ['test', 'it'];
const CONTEXTS = ['t', 'context', ...SUITES, ...TESTS];
const MARKS = ['only', 'skip', 'todo'];

export const noMarksRule: SourceRule = {
  why:
    'A test that does not run proves nothing, and no one sees that it does not. Where a machine lacks ' +
    'something, say `skip: lacks && "reason"` in the options.',
  find: (source) => (isTest(source.path) ? judgeNodes(source, (node) => markedCall(node) ?? markedOption(node)) : []),
};

/** `test.only(...)`, `t.skip(...)`. */
function markedCall(node: Node): string | undefined {
  if (!isPropertyAccessExpression(node) || !MARKS.includes(node.name.text)) return undefined;
  const owner = node.expression;
  return isIdentifier(owner) && CONTEXTS.includes(owner.text) ? `has ${owner.text}.${node.name.text}` : undefined;
}

/** `{ only: ... }` however it is decided; `{ skip: true }` and `{ skip: 'reason' }`, which are decided for ever. */
function markedOption(node: Node): string | undefined {
  if (!isPropertyAssignment(node) || !isObjectLiteralExpression(node.parent)) return undefined;
  const call = node.parent.parent;
  const name = node.name.getText();
  if (!isCallExpression(call) || !isOneOf(call, [...SUITES, ...TESTS]) || !MARKS.includes(name)) return undefined;
  const isOpen =
    node.initializer.kind === SyntaxKind.FalseKeyword || (name === 'skip' && isDecidedLater(node.initializer));
  return isOpen ? undefined : `has the option ${name}`;
}

function isDecidedLater(node: Node): boolean {
  return isConditionalExpression(node) || (node.kind !== SyntaxKind.TrueKeyword && literal(node) === undefined);
}

export const uniqueTitlesRule: SourceRule = {
  why: 'A title names the rule that was broken; two tests of one name leave open which.',
  find(source) {
    if (!isTest(source.path)) return [];
    const seen = new Set<string>();
    const found: Finding[] = [];
    collect(source, source.tree, '', (node, title) => {
      if (seen.has(title)) found.push(finding(source, node, `has the title "${title}" twice`));
      seen.add(title);
    });
    return found;
  },
};

/** The titles of the tests of a file, each in one line, without those of the suites around it. */
function titles(source: Source): string[] {
  const found: string[] = [];
  collect(source, source.tree, '', (call) => {
    if (isOneOf(call, TESTS)) found.push(titleOf(call, source));
  });
  return found;
}

/** Visits each test with its title after those of the suites around it. */
function collect(
  source: Source,
  node: Node,
  prefix: string,
  visit: (call: CallExpression, title: string) => void,
): void {
  let inner = prefix;
  if (isCallExpression(node) && isOneOf(node, [...SUITES, ...TESTS])) {
    inner = `${prefix}${titleOf(node, source)}`;
    visit(node, inner);
    inner += ' > ';
  }
  node.forEachChild((child) => collect(source, child, inner, visit));
}

/** As text of the source where it has a variable or several parts, without the quotes around and between them. */
function titleOf({ arguments: [title] }: CallExpression, source: Source): string {
  const text = title?.getText(source.tree) ?? '';
  return literal(title) ?? text.replace(/['"`]\s*\+\s*['"`]|^['"`]|['"`]$/g, '').replace(/\s+/g, ' ');
}

/** Those of all tests, without the suites around them. */
export function titlesOf(sources: readonly Source[]): string[] {
  return sources.filter(({ path }) => isTest(path)).flatMap(titles);
}

function isOneOf(call: CallExpression, names: readonly string[]): boolean {
  return isIdentifier(call.expression) && names.includes(call.expression.text);
}

/** Of a file that shares its process, and the cores of the machine, with others: `npm test` runs it in a lane. */
function isLaneTest(path: string): boolean {
  return isTest(path) && !/^test\/(proof|night)\//.test(path);
}

const HOOKS = ['before', 'after', 'beforeEach', 'afterEach'];

export const suiteHooksRule: SourceRule = {
  why:
    'npm test runs the files of a lane in one process, where a hook outside of a suite is one of all these files. ' +
    'Put it into the suite that needs it, or use t.after.',
  find: (source) => (isLaneTest(source.path) ? judgeNodes(source, openHook) : []),
};

/** A hook that the file itself sets: one in a function belongs to the suite that calls it. */
function openHook(node: Node): string | undefined {
  if (!isCallExpression(node)) return undefined;
  const { expression: callee } = node;
  const name = isPropertyAccessExpression(callee) && isRunner(callee.expression) ? callee.name : callee;
  if (!isIdentifier(name) || !HOOKS.includes(name.text)) return undefined;
  for (let outer: Node = node.parent; outer.kind !== SyntaxKind.SourceFile; outer = outer.parent)
    if (isArrowFunction(outer) || isFunctionDeclaration(outer) || isFunctionExpression(outer)) return undefined;
  return `has the hook ${name.text} outside of a suite`;
}

function isRunner(node: Node): boolean {
  return isIdentifier(node) && [...SUITES, ...TESTS].includes(node.text);
}

/** What tells of the process as a whole, or changes it for all its files. */
const PROCESS_MEASURES = [
  'cpuUsage',
  'threadCpuUsage',
  'resourceUsage',
  'memoryUsage',
  'gc',
  'hrtime',
  'eventLoopUtilization',
  'monitorEventLoopDelay',
  'moduleLoadList',
  'registerHooks',
];
/** It stretches limits of time that end what hangs. */
const SLOWNESS = '/support/measure/slowness.ts';

export const noMeasureRule: SourceRule = {
  why:
    'npm test runs the files of a lane in one process and lanes side by side, so what a test measures there is the ' +
    'work of others too. Put the test into test/proof/measured/, where each file has its own process.',
  find: (source) => (isLaneTest(source.path) ? judgeNodes(source, measure) : []),
};

function measure(node: Node): string | undefined {
  if (isImportDeclaration(node)) {
    const from = literal(node.moduleSpecifier) ?? '';
    return from.includes('/support/measure/') && !from.endsWith(SLOWNESS) ? `imports ${from}` : undefined;
  }
  const name = isPropertyAccessExpression(node) ? node.name : isCallExpression(node) ? node.expression : undefined;
  return name !== undefined && isIdentifier(name) && PROCESS_MEASURES.includes(name.text)
    ? `uses ${name.text}`
    : undefined;
}

const NOW = /^(performance|Date|systemClock)\.(now|monotonic)\(\)$/;
const NOW_OF_MEASURE = /^(performance\.now|systemClock\.monotonic)\(\)$/;
const ORDERS = [
  SyntaxKind.LessThanToken,
  SyntaxKind.LessThanEqualsToken,
  SyntaxKind.GreaterThanToken,
  SyntaxKind.GreaterThanEqualsToken,
];

export const noWallTimeRule: SourceRule = {
  why:
    'How long something takes depends on what else runs. Assert the rule by what can be seen, with a clock that the ' +
    'test moves (test/support/clock.ts) or until of test/support/api-client.ts; where the time is the rule, put the ' +
    'test into test/proof/measured/.',
  find: (source) => (isLaneTest(source.path) ? judgeNodes(source, elapsed) : []),
};

/** `now() - began`, and `now() < deadline`. A time of now less a constant is a time in the past, for a row. */
function elapsed(node: Node): string | undefined {
  if (!isBinaryExpression(node)) return undefined;
  const { left, right, operatorToken } = node;
  if (operatorToken.kind === SyntaxKind.MinusToken)
    return NOW.test(left.getText()) && !isConstant(right) ? 'measures how long something took' : undefined;
  const isDeadline = ORDERS.includes(operatorToken.kind) && [left, right].some((side) => isMeasuredNow(side));
  return isDeadline ? 'compares the time of now with a limit' : undefined;
}

function isMeasuredNow(node: Node): boolean {
  return NOW_OF_MEASURE.test(node.getText());
}

function isConstant(node: Node): boolean {
  const text = node.getText();
  return isNumericLiteral(node) || /^[A-Z][A-Z0-9_]*$/.test(text) || /^[\w_]+ \* [\w_]+$/.test(text);
}

export const LANE_SAMPLES = {
  'has its hooks inside suites in npm test': {
    bad: at(
      'src/domain/a.test.ts',
      'before(f);',
      "import test from 'node:test'; test.after(f);",
      'for (const a of b) afterEach(f);',
      'if (a) { beforeEach(f); }',
    ),
    good: [
      ...at(
        'src/domain/a.test.ts',
        "describe('a', () => { before(f); test.after(f); });",
        "test('a', (t) => t.after(f));",
        'function fixture() { after(f); }',
      ),
      ...at('test/proof/a.test.ts', 'before(f);'),
    ],
  },
  'measures no process in npm test': {
    bad: at(
      'test/api/a.test.ts',
      "import { heldMib } from '../support/measure/held-memory.ts';",
      'process.cpuUsage();',
      'process.memoryUsage().rss;',
      'globalThis.gc?.();',
      'gc();',
      'registerHooks({});',
    ),
    good: [
      ...at('test/api/a.test.ts', "import { patient } from '../support/measure/slowness.ts';", "x('memoryUsage');"),
      ...at('test/proof/a.test.ts', 'process.memoryUsage();'),
    ],
  },
  'asserts no wall time in npm test': {
    bad: at(
      'src/domain/a.test.ts',
      'assert.ok(performance.now() - began < 5);',
      'const tookMs = Date.now() - began;',
      'x(systemClock.monotonic() - began);',
      'while (performance.now() < deadline) f();',
    ),
    good: [
      ...at(
        'src/domain/a.test.ts',
        'Date.now() - 1;',
        'Date.now() - 2 * DAY_MS;',
        'at <= Date.now();',
        'at - Date.now();',
      ),
      ...at('test/night/a.test.ts', 'performance.now() - began;'),
    ],
  },
} satisfies Record<string, Samples>;
