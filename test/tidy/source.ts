/**
 * Source files as the compiler sees them, so that a rule judges code and not the comments and strings around it.
 * The parser is the one of the pinned TypeScript (its "unstable" interface: an upgrade may have to follow it here);
 * it gets the files as text, therefore a rule can be tried on a sample that is on no disk. 100 files take 0.1 s.
 */
import assert from 'node:assert/strict';
import { API } from 'typescript/unstable/async';
import {
  isArrayLiteralExpression,
  isCallExpression,
  isNewExpression,
  isPropertyAccessExpression,
  isStringLiteralLikeNode,
  type Node,
  type SourceFile,
} from 'typescript/unstable/ast';
import { createVirtualFileSystem } from 'typescript/unstable/fs';

export interface TextFile {
  /** From the repository's root, with slashes. */
  readonly path: string;
  readonly text: string;
}

export interface Source extends TextFile {
  readonly tree: SourceFile;
}

/** What is wrong where. The reason is the rule's. */
export interface Finding {
  readonly path: string;
  readonly line?: number;
  readonly what: string;
}

export interface SourceRule {
  /** The reason, one or two sentences; it is part of the failing message. */
  readonly why: string;
  find(source: Source): Finding[];
}

/** What a rule must forbid and must let pass. */
export interface Samples {
  readonly bad: readonly TextFile[];
  readonly good: readonly TextFile[];
}

/** Samples of one file name. */
export function at(path: string, ...texts: string[]): TextFile[] {
  return texts.map((text) => ({ path, text }));
}

const CONFIG = '/parse/tsconfig.json';

/** Parses TypeScript. A path may come more than once. Rejects when the compiler does not know a file. */
export async function parse(files: readonly TextFile[]): Promise<Source[]> {
  const nameOf = (index: number): string => `/parse/${index}/${files[index]?.path ?? ''}`;
  const contents = Object.fromEntries(files.map((file, index) => [nameOf(index), file.text]));
  const config = { compilerOptions: { noLib: true, noResolve: true, types: [] }, include: ['**/*.ts'] };
  const api = new API({
    cwd: '/parse',
    fs: createVirtualFileSystem({ ...contents, [CONFIG]: JSON.stringify(config) }),
  });
  try {
    const snapshot = await api.updateSnapshot({ openProjects: [CONFIG] });
    const program = snapshot.getProject(CONFIG)?.program;
    const sources: Source[] = [];
    for (const [index, file] of files.entries()) {
      const tree = await program?.getSourceFile(nameOf(index));
      if (tree === undefined) throw new Error(`The compiler has no tree of ${file.path}.`);
      sources.push({ ...file, tree });
    }
    return sources;
  } finally {
    await api.close();
  }
}

/** Calls `visit` for `node` and all nodes below it, in the order of the text. */
export function walk(node: Node, visit: (node: Node) => void): void {
  visit(node);
  node.forEachChild((child) => walk(child, visit));
}

export function finding(source: Source, node: Node, what: string): Finding {
  return { path: source.path, line: lineAt(source, node.getStart(source.tree)), what };
}

/** The line of a position, from 1. */
export function lineAt(source: Source, position: number): number {
  return source.tree.getLineAndCharacterOfPosition(position).line + 1;
}

/** Collects what `judge` says of the nodes of a file. */
export function judgeNodes(source: Source, judge: (node: Node) => string | undefined): Finding[] {
  const found: Finding[] = [];
  walk(source.tree, (node) => {
    const what = judge(node);
    if (what !== undefined) found.push(finding(source, node, what));
  });
  return found;
}

/** The value of a string literal; undefined for everything else. */
export function literal(node: Node | undefined): string | undefined {
  return node !== undefined && isStringLiteralLikeNode(node) ? node.text : undefined;
}

/** The elements of `[…].includes(x)`, `new Set([…])` and similar, if all are string literals; empty for all else. */
export function literalsOf(node: Node): readonly string[] {
  const list =
    isCallExpression(node) && isPropertyAccessExpression(node.expression)
      ? LOOKUPS.has(node.expression.name.text)
        ? node.expression.expression
        : undefined
      : isNewExpression(node) && node.expression.getText() === 'Set'
        ? node.arguments?.[0]
        : undefined;
  if (list === undefined || !isArrayLiteralExpression(list)) return [];
  const texts = list.elements.map(literal);
  return texts.every((text) => text !== undefined) ? texts : [];
}

const LOOKUPS: ReadonlySet<string> = new Set(['includes', 'indexOf', 'some', 'find']);

export function isTest(path: string): boolean {
  return path.endsWith('.test.ts');
}

/** Fails with a line for each finding, and the reason of the rule. */
export function assertNone(findings: readonly Finding[], why: string): void {
  const lines = findings.map(({ path, line, what }) => `  ${path}${line === undefined ? '' : `:${line}`} ${what}`);
  if (lines.length > 0) assert.fail(`\n${lines.join('\n')}\n  Why: ${why}`);
}

/** Asserts that a rule finds something in a bad sample, and that a finding matches. */
export function bites(findings: readonly Finding[], expected: RegExp): void {
  assert.match(findings.map(({ path, what }) => `${path} ${what}`).join('\n'), expected);
}
