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

/**
 * Each title once, in the order of their characters. The golden list of them may only grow: a test that is moved, made
 * quicker or written again keeps its title, and one that is lost is seen.
 */
export function titlesOf(sources: readonly Source[]): string[] {
  const found = sources.filter(({ path }) => isTest(path)).flatMap(titles);
  return [...new Set(found)].toSorted();
}

/** Those of `golden`, the text of the list, that no test has. */
export function lostTitles(golden: string, sources: readonly Source[]): string[] {
  const there = new Set(titlesOf(sources));
  return linesOf(golden).filter((title) => !there.has(title));
}

/** The text of the list with the titles that are new. */
export function withNewTitles(golden: string, sources: readonly Source[]): string {
  return `${[...new Set([...linesOf(golden), ...titlesOf(sources)])].toSorted().join('\n')}\n`;
}

function linesOf(golden: string): string[] {
  return golden.split('\n').filter((line) => line !== '');
}

function isOneOf(call: CallExpression, names: readonly string[]): boolean {
  return isIdentifier(call.expression) && names.includes(call.expression.text);
}
