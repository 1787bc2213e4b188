/** Rules for tests themselves. */
import {
  type CallExpression,
  isCallExpression,
  isConditionalExpression,
  isIdentifier,
  isObjectLiteralExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  type Node,
  SyntaxKind,
} from 'typescript/unstable/ast';
import { type Finding, finding, isTest, judgeNodes, literal, type Source, type SourceRule } from './source.ts';

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

/** Visits each test with its title after those of the suites around it. */
function collect(source: Source, node: Node, prefix: string, visit: (node: Node, title: string) => void): void {
  let inner = prefix;
  if (isCallExpression(node) && isOneOf(node, [...SUITES, ...TESTS])) {
    const title = node.arguments[0]?.getText(source.tree) ?? '';
    inner = `${prefix}${literal(node.arguments[0]) ?? title}`;
    visit(node, inner);
    inner += ' > ';
  }
  node.forEachChild((child) => collect(source, child, inner, visit));
}

function isOneOf(call: CallExpression, names: readonly string[]): boolean {
  return isIdentifier(call.expression) && names.includes(call.expression.text);
}
