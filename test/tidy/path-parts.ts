/** What an id, a name or a digest of a row may name on the disk is checked before: paths are joined from such parts. */
import {
  isBinaryExpression,
  isCallExpression,
  isElementAccessExpression,
  isIdentifier,
  isImportDeclaration,
  isNamedImports,
  isPropertyAccessExpression,
  isTemplateExpression,
  type Node,
  SyntaxKind,
} from 'typescript/unstable/ast';
import {
  at,
  finding,
  type Finding,
  isTest,
  literal,
  type Samples,
  type Source,
  type SourceRule,
  walk,
} from './source.ts';

/** Where rows are at hand. */
const HAVE_ROWS = ['app', 'config', 'daemon', 'doctor', 'jobs', 'operations', 'reaction', 'runners', 'store'];
/** Of these, the folders in which a text with a slash is a path. */
const TEXT_IS_PATH = ['app', 'config', 'daemon', 'doctor', 'runners'];

/** By file, the words that it joins into paths all the same, and why none of them is of a row. */
export const FREE_PARTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'src/app/backups/restore-target.ts': { name: 'an entry of the data directory, or of their table' },
  'src/app/backups/restore.ts': { name: 'an entry of the folder of backups' },
  'src/config/data-dir.ts': { name: 'of the table of entries of the data directory' },
  'src/config/program/digest.ts': { name: 'a file or a package of the program' },
  'src/config/runs-dir.ts': { 'instanceName(paths.dir)': 'a digest of the path of the data directory' },
  'src/daemon/maintenance/restart.ts': { 'store.dialect.name': 'one of two constants' },
  'src/doctor/maintenance/data-dir.ts': { name: 'of the table of entries of the data directory' },
  'src/runners/process/lease-times.ts': { 'entry.name': 'an entry of the folder of lock files' },
  'src/operations/configuration/plan.ts': { 'String(path)': 'a path that a user gave, below the folder of the file' },
  'src/runners/ansible/inputs.ts': { folder: 'one of two constants' },
  'src/runners/ansible/tree.ts': { playbook: 'was resolved from the descriptor of the run directory before' },
  'src/runners/bounds/cgroup.ts': { file: 'a file of the kernel' },
  'src/runners/bounds/delegated-group.ts': { path: 'what the kernel says of the group of this process' },
  'src/runners/checkout/erase.ts': { gone: 'a random name', name: 'an entry of the folder' },
  'src/runners/checkout/git/access.ts': {
    name: 'one of the names of keys and files of ssh',
    'name.slice(2)': 'what ssh says about its files',
  },
  'src/runners/checkout/git/place.ts': {
    '`${PREFIX}${randomName()}`': 'a random name',
    name: 'an entry of the folder',
  },
  'src/runners/checkout/git/tree.ts': { path: 'of a tree of git, with names that passed their check' },
  'src/runners/vendor/vendored-files.ts': { path: 'of collected files, with names that passed their check' },
  'src/runners/command/on-hosts.ts': { 'logOf(each.host)': 'has the number of the host and nothing of its name' },
  'src/runners/process/term-once.ts': { name: 'two numbers of the table of processes' },
  'src/runners/program.ts': { "order.folder ?? ''": 'was resolved from the descriptor of the run directory before' },
  'src/runners/run-files/outer-folder.ts': { "name.toString('utf8')": 'an entry of the folder' },
  'src/runners/sandbox/outside.ts': {
    name: 'an entry of the folder',
    "path.slice(path.lastIndexOf('/') + 1)": 'one part of a path that was checked',
  },
  'src/runners/vendor/galaxy.ts': { '`${noun}s`': 'one of two constants' },
  'src/store/engine/migration.ts': { file: 'an entry of the folder of migrations' },
  'src/store/store.ts': { database: 'one of two constants' },
};

const JOINERS = ['join', 'resolve'];
const CONSTANT = /^[A-Z][A-Z0-9_]*$/;
/** Names of what comes from rows. */
const OF_ROW = /^(?:id|.+Id|.*[dD]igest|sha256|.*[cC]ommit|workspace|source)$/;
/** Of a member these, too: `row.name`. */
const MEMBER_OF_ROW = /^(?:name|file|job_id|daemon_id|commit_id)$/;

export const pathPartRule: SourceRule = {
  why:
    'Who can write the database chooses the ids, names and digests of its rows, and with ../ in one a path leads ' +
    'anywhere. Join them with entryPath, which takes parts that passed their form: src/domain/path-part.ts. A word ' +
    'that is not of a row is named with its reason in test/tidy/path-parts.ts.',
  find(source) {
    const folder = folderOf(source.path);
    if (isTest(source.path) || !HAVE_ROWS.includes(folder)) return [];
    const found: Finding[] = [];
    const free = FREE_PARTS[source.path] ?? {};
    for (const node of joinedParts(source, folder)) {
      const text = node.getText(source.tree);
      if (!Object.hasOwn(free, text)) found.push(finding(source, node, `joins ${text} into a path`));
    }
    return found;
  },
};

/** The exceptions that no file needs. */
export function needlessParts(sources: readonly Source[]): string[] {
  return Object.entries(FREE_PARTS).flatMap(([path, words]) => {
    const source = sources.find((each) => each.path === path);
    const used =
      source === undefined ? [] : joinedParts(source, folderOf(path)).map((node) => node.getText(source.tree));
    return Object.keys(words).flatMap((word) => (used.includes(word) ? [] : [`${path}: ${word}`]));
  });
}

function folderOf(path: string): string {
  return /^src\/([^/.]+)/.exec(path)?.[1] ?? '';
}

function joinedParts(source: Source, folder: string): Node[] {
  const joiners = joinersOf(source);
  const found: Node[] = [];
  walk(source.tree, (node) => {
    found.push(...joinedBy(joiners, node));
    if (TEXT_IS_PATH.includes(folder)) found.push(...writtenInto(node).filter(isOfRow));
  });
  return found;
}

/** What the file calls the functions of node:path that join. */
function joinersOf({ tree }: Source): ReadonlySet<string> {
  const names = new Set<string>();
  walk(tree, (node) => {
    if (!isImportDeclaration(node) || !/^(?:node:)?path(?:\/posix)?$/.test(literal(node.moduleSpecifier) ?? '')) return;
    const { name, namedBindings } = node.importClause ?? {};
    if (name !== undefined) names.add(name.text);
    if (namedBindings === undefined) return;
    if (!isNamedImports(namedBindings)) names.add(namedBindings.name.text);
    else
      for (const { propertyName, name: own } of namedBindings.elements)
        if (JOINERS.includes((propertyName ?? own).text)) names.add(own.text);
  });
  return names;
}

/** The words that a call of one of them joins to a folder, except for those that the code itself holds. */
function joinedBy(joiners: ReadonlySet<string>, node: Node): readonly Node[] {
  if (!isCallExpression(node)) return [];
  const callee = node.expression;
  const isJoin = isPropertyAccessExpression(callee)
    ? isIdentifier(callee.expression) && joiners.has(callee.expression.text) && JOINERS.includes(callee.name.text)
    : isIdentifier(callee) && joiners.has(callee.text);
  return isJoin ? node.arguments.slice(1).filter((word) => !isHeldByCode(word)) : [];
}

function isHeldByCode(node: Node): boolean {
  if (literal(node) !== undefined) return true;
  if (isIdentifier(node)) return CONSTANT.test(node.text);
  if (isPropertyAccessExpression(node) || isElementAccessExpression(node)) return isHeldByCode(node.expression);
  // One part of a path that exists already.
  return isCallExpression(node) && node.expression.getText() === 'basename';
}

/** What a template, or a sum, puts beside a slash. */
function writtenInto(node: Node): Node[] {
  if (isBinaryExpression(node) && node.operatorToken.kind === SyntaxKind.PlusToken) {
    const { left, right } = node;
    const before = isBinaryExpression(left) ? left.right : left;
    return literal(before)?.endsWith('/') === true ? [right] : [];
  }
  if (!isTemplateExpression(node)) return [];
  let before = node.head.text;
  return node.templateSpans.flatMap(({ expression, literal: { text } }) => {
    const isPart = before.endsWith('/') || text.startsWith('/');
    before = text;
    return isPart ? [expression] : [];
  });
}

function isOfRow(node: Node): boolean {
  if (isIdentifier(node)) return OF_ROW.test(node.text);
  if (!isPropertyAccessExpression(node)) return false;
  return OF_ROW.test(node.name.text) || MEMBER_OF_ROW.test(node.name.text);
}

export const PATH_PART_SAMPLES: Samples = {
  bad: [
    ...at(
      'src/runners/a.ts',
      "import { join } from 'node:path';\njoin(runsDir, jobId);",
      "import { resolve as to } from 'node:path';\nto(folder, row.name);",
      "import * as path from 'node:path';\npath.join(folder, OUTER, name);",
      "import path from 'path';\npath.resolve(folder, `${name}.lock`);",
      "import { join } from 'node:path';\njoin(folder, ...parts);",
      'const path = `${runsDir}/${jobId}`;',
      'const path = `${runsDir}/${job.id}.gone`;',
      "const path = runsDir + '/' + job.id;",
      'const path = `/data/${row.sha256}/file`;',
    ),
    ...at('src/store/workspaces/a.ts', "import { join } from 'node:path';\njoin(folder, digest);"),
    ...at('src/daemon/a.ts', 'const path = `${folder}/${workspace.name}`;'),
  ],
  good: [
    ...at(
      'src/runners/a.ts',
      "import { join } from 'node:path';\njoin(runDir, TREE, 'state', NAMES.lock, basename(path));",
      "import { entryPath } from '../domain/path-part.ts';\nentryPath(runsDir, jobId);",
      "['a'].join(id); Promise.resolve(id);",
      'const url = `${origin}/${path}`;',
    ),
    ...at('src/store/secrets/a.ts', 'const reference = `${secret.project}/${secret.name}`;'),
    ...at('src/app/backups/restore.ts', "import { join } from 'node:path';\njoin(folder, name);"),
    ...at('src/runners/a.test.ts', "import { join } from 'node:path';\njoin(dir, id);"),
    ...at('src/faces/http/a.ts', 'const path = `/jobs/${id}`;'),
  ],
};
