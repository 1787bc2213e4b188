/** A kind of job is a row that its area owns: other code compares no kind, and every table of kinds is complete. */
import { posix } from 'node:path';
import {
  isBinaryExpression,
  isBindingElement,
  isCaseClause,
  isMappedTypeNode,
  isSwitchStatement,
  isTypeReferenceNode,
  isVariableDeclaration,
  type Node,
  SyntaxKind,
} from 'typescript/unstable/ast';
import type { JobKind } from '../../src/domain/jobs/job.ts';
import { TABLES } from './folders/areas.ts';
import { importsOf } from './folders/layers.ts';
import { finding, isTest, judgeNodes, literal, literalsOf, type Source, type SourceRule, walk } from './source.ts';

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
  vendor: ['vendor'],
  config: ['config-order'],
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
    const folders = foldersOf(source.path);
    const aliases = aliasesOf(source);
    const holdsKind = (node: Node): boolean => HOLDS_KIND.test(node.getText()) || aliases.has(node.getText());
    return judgeNodes(source, (node) => compares(node, folders, holdsKind) ?? incomplete(node));
  },
};

/** Folders that belong to a kind alone. */
const OWNED = new Set(Object.values(FOLDERS).flat());

/** Shared files beside the tables that import the area of a kind, each with its reason. */
const IMPORTERS: Readonly<Record<string, string>> = {
  'src/doctor/doctor.ts': 'It is the table of the entries of the health report.',
  'src/operations/configuration/configuration.ts': 'It asks for the jobs of the kind.',
  'src/operations/configuration/ordered.ts': 'It is what a run of the kind applies, by the operations of each object.',
  'src/operations/schedules/actions.ts': 'It is the table of the actions of schedules.',
  'src/config/settings/settings.ts': 'It is the table of the settings.',
  'src/store/engine/tags/tagged-tables.ts': 'It is the table of what the tags of rows cover.',
  'src/faces/cli/programs.ts': 'It is the table of verbs that are no operations.',
  'src/faces/cli/run-program.ts': 'It is the table of what such verbs run.',
  'src/faces/cli/terminal.ts': 'It lists what such verbs ask of the wiring.',
  'src/faces/areas/approvals/plan.ts': 'It draws the plan that an approval is about.',
  'src/views/rules/views.ts': 'The view of a rule has the action of each kind.',
  'src/views/approvals/views.ts': 'An approval shows the plan that it is about.',
  'src/operations/approvals/decision-subject.ts': 'The page of a decision shows the plan that it is about.',
  'src/operations/approvals/plan-view.ts': 'It opens the plan that an approval is about.',
  'src/jobs/pins/directory.ts': 'The row that names the directory of a job may be that of a workspace.',
  'src/jobs/pins/settings.ts': 'It is the table of the rows that a request keeps, by tables.',
  'src/reaction/event-causes.ts': 'A drift depends on the source of its workspace, which its event does not name.',
  'src/runners/vendor/vendor.ts': 'It starts the tools of playbooks and of workspaces.',
};

export const kindImportRule: SourceRule = {
  why:
    'What shared code imports from the area of a kind serves that kind only. Give the row of the kind a column; ' +
    'only the tables of kinds, and what has a reason in test/tidy/kinds.ts, import areas.',
  find(source) {
    const { path } = source;
    const isFree = isTest(path) || path.startsWith('src/app') || TABLES.includes(path);
    if (!path.startsWith('src/') || isFree) return [];
    const own = ownersOf(path);
    const found = importsOf(source).flatMap(({ node, target }) => {
      const resolved = target?.startsWith('.') === true ? posix.join(posix.dirname(path), target) : '';
      const isForeign = ownersOf(resolved).some((owner) => !own.includes(owner));
      return isForeign ? [finding(source, node, `imports ${resolved}, of the area of a kind`)] : [];
    });
    if (!Object.hasOwn(IMPORTERS, path)) return found;
    return found.length > 0 ? [] : [{ path, what: 'is an exception in test/tidy/kinds.ts that is not needed' }];
  },
};

/** The first folder of each area that a path is in: `terraform` is `workspaces`. */
function ownersOf(path: string): (string | undefined)[] {
  const folders = foldersOf(path).filter((folder) => OWNED.has(folder));
  return folders.map((folder) => Object.values(FOLDERS).find((owned) => owned.includes(folder))?.[0]);
}

function foldersOf(path: string): string[] {
  return path.split('/').slice(0, -1);
}

/** Other names of a kind in a file: `const { kind: what } = job`, `const what = job.kind`. */
function aliasesOf(source: Source): ReadonlySet<string> {
  const aliases = new Set<string>();
  const add = (name: Node | undefined, from: Node | undefined): void => {
    if (name !== undefined && from !== undefined && HOLDS_KIND.test(from.getText())) aliases.add(name.getText());
  };
  walk(source.tree, (node) => {
    if (isBindingElement(node)) add(node.name, node.propertyName);
    else if (isVariableDeclaration(node)) add(node.name, node.initializer);
  });
  return aliases;
}

function compares(node: Node, folders: readonly string[], holdsKind: (node: Node) => boolean): string | undefined {
  const kind = comparedWith(node, holdsKind) ?? listed(node);
  if (kind === undefined || !Object.hasOwn(FOLDERS, kind)) return undefined;
  const own = FOLDERS[kind as JobKind];
  return own.some((folder) => folders.includes(folder)) ? undefined : `compares a kind with "${kind}"`;
}

/** The first of a list of nothing but kinds that a value is looked up in. */
function listed(node: Node): string | undefined {
  const literals = literalsOf(node);
  return literals.every((text) => Object.hasOwn(FOLDERS, text)) ? literals[0] : undefined;
}

/** The literal that a value which holds a kind is compared with. */
function comparedWith(node: Node, holdsKind: (node: Node) => boolean): string | undefined {
  if (isCaseClause(node)) {
    const { parent } = node.parent;
    return isSwitchStatement(parent) && holdsKind(parent.expression) ? literal(node.expression) : undefined;
  }
  if (!isBinaryExpression(node) || !EQUALITY.includes(node.operatorToken.kind)) return undefined;
  const sides = [node.left, node.right];
  return sides.some(holdsKind) ? sides.map(literal).find(Boolean) : undefined;
}

const EQUALITY: readonly SyntaxKind[] = [SyntaxKind.EqualsEqualsEqualsToken, SyntaxKind.ExclamationEqualsEqualsToken];

function incomplete(node: Node): string | undefined {
  if (isMappedTypeNode(node))
    return node.questionToken !== undefined && KINDS.test(node.typeParameter.getText()) ? 'optional kinds' : undefined;
  if (!isTypeReferenceNode(node) || !INCOMPLETE.includes(node.typeName.getText())) return undefined;
  const [first] = node.typeArguments ?? [];
  return first !== undefined && KINDS.test(first.getText()) ? `${node.typeName.getText()} of kinds` : undefined;
}
