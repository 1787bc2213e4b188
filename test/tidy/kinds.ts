/** A kind of job is a row that its area owns: other code compares no kind, and every table of kinds is complete. */
import {
  isBinaryExpression,
  isCaseClause,
  isSwitchStatement,
  isTypeReferenceNode,
  type Node,
  SyntaxKind,
} from 'typescript/unstable/ast';
import type { JobKind } from '../../src/domain/jobs/job.ts';
import { isTest, judgeNodes, literal, type SourceRule } from './source.ts';

const INFRASTRUCTURE = ['workspaces', 'terraform'];

/** The folders of the area that owns each kind. */
const FOLDERS: Readonly<Record<JobKind, readonly string[]>> = {
  plan: INFRASTRUCTURE,
  apply: INFRASTRUCTURE,
  destroy: INFRASTRUCTURE,
  drift: INFRASTRUCTURE,
  playbook: ['playbooks', 'ansible'],
  command: ['commands', 'command'],
  backup: ['backups', 'backup'],
  vendor: ['sources', 'checkout'],
};

/** A value that holds a kind: `kind`, `job.kind`, `facts.jobKind`. */
const HOLDS_KIND = /(^|\.)(\w+K|k)ind$/;
/** The name of a union of kinds, as the key of a table. */
const KINDS = /\b(Job|Action|Notification)Kind\b/;
/** Types that hold some of the kinds and say nothing of the others. */
const INCOMPLETE = ['Partial', 'Map', 'ReadonlyMap', 'Set', 'ReadonlySet'];

export const kindRule: SourceRule = {
  why:
    'A kind is a row of each table, owned by its area; docs/contributing/add-a-job-kind.md names the tables. Add a ' +
    'column to the row instead of comparing the kind, and let the compiler name the kind that a table lacks.',
  find(source) {
    if (!source.path.startsWith('src/') || isTest(source.path)) return [];
    const folders = source.path.split('/').slice(0, -1);
    return judgeNodes(source, (node) => compares(node, folders) ?? incomplete(node));
  },
};

function compares(node: Node, folders: readonly string[]): string | undefined {
  const kind = comparedWith(node);
  if (kind === undefined || !Object.hasOwn(FOLDERS, kind)) return undefined;
  const own = FOLDERS[kind as JobKind];
  return own.some((folder) => folders.includes(folder)) ? undefined : `compares a kind with "${kind}"`;
}

/** The literal that a value which holds a kind is compared with. */
function comparedWith(node: Node): string | undefined {
  if (isCaseClause(node)) {
    const { parent } = node.parent;
    return isSwitchStatement(parent) && HOLDS_KIND.test(parent.expression.getText())
      ? literal(node.expression)
      : undefined;
  }
  if (!isBinaryExpression(node) || !EQUALITY.includes(node.operatorToken.kind)) return undefined;
  const sides = [node.left, node.right];
  return sides.some((side) => HOLDS_KIND.test(side.getText())) ? sides.map(literal).find(Boolean) : undefined;
}

const EQUALITY: readonly SyntaxKind[] = [SyntaxKind.EqualsEqualsEqualsToken, SyntaxKind.ExclamationEqualsEqualsToken];

function incomplete(node: Node): string | undefined {
  if (!isTypeReferenceNode(node) || !INCOMPLETE.includes(node.typeName.getText())) return undefined;
  const [first] = node.typeArguments ?? [];
  return first !== undefined && KINDS.test(first.getText()) ? `${node.typeName.getText()} of kinds` : undefined;
}
