/** Exports: another file imports each of them, from the file that defines it. */
import { posix } from 'node:path';
import {
  isClassDeclaration,
  isExportDeclaration,
  isFunctionDeclaration,
  isIdentifier,
  isImportDeclaration,
  isImportTypeNode,
  isInterfaceDeclaration,
  isNamedExports,
  isNamedImports,
  isTypeAliasDeclaration,
  isVariableStatement,
  type Node,
  SyntaxKind,
} from 'typescript/unstable/ast';
import { importsOf } from './folders/layers.ts';
import { type Finding, finding, isTest, type Source } from './source.ts';

export const UNUSED_WHY =
  'People read, test and keep an export for its importers. Remove what has none, or only the word export.';

export const PASSED_ON_WHY =
  'A name with two doors is hard to find and to move. Import it from the file that defines it.';

/** All names of a file, as `import * as` and `import()` take them. */
const ALL = '*';

/** The schema of the whole database is composed of the areas' tables, and is imported as one. */
const COMPOSED = ['src/store/schema/schema.ts'];

/** Exports of src that no other file of `sources` imports; tests, scripts and benchmarks count as importers. */
export function unusedExports(sources: readonly Source[]): Finding[] {
  const used = new Set(sources.flatMap(usesOf).map(({ path, name }) => `${path} ${name}`));
  return sources
    .filter(isProgram)
    .filter(({ path }) => !used.has(`${path} ${ALL}`))
    .flatMap((source) =>
      exportsOf(source)
        .filter(({ name }) => !used.has(`${source.path} ${name}`))
        .map(({ name, node }) => finding(source, node, `exports ${name}, which no other file imports`)),
    );
}

/** Exports of src that another file defines. */
export function passedOn(sources: readonly Source[]): Finding[] {
  return sources
    .filter((source) => isProgram(source) && !COMPOSED.includes(source.path))
    .flatMap((source) => {
      const imported = new Set(usesOf(source).map(({ local }) => local));
      return source.tree.statements
        .filter(isExportDeclaration)
        .filter(
          (node) =>
            node.moduleSpecifier !== undefined || namesIn(node.exportClause).some(({ name }) => imported.has(name)),
        )
        .map((node) => finding(source, node, 'exports what another file defines'));
    });
}

function isProgram({ path }: Source): boolean {
  return path.startsWith('src/') && !isTest(path);
}

/** What a file takes from others of the repository; `local` is its name there. */
function usesOf(source: Source): { path: string; name: string; local: string }[] {
  return importsOf(source).flatMap(({ node, target }) => {
    if (target?.startsWith('.') !== true) return [];
    const path = posix.join(posix.dirname(source.path), target);
    return takenBy(node).map((names) => ({ path, ...names }));
  });
}

function takenBy(node: Node): { name: string; local: string }[] {
  const all = [{ name: ALL, local: ALL }];
  if (isImportTypeNode(node)) {
    const name = node.qualifier?.getText().split('.')[0] ?? ALL;
    return [{ name, local: name }];
  }
  const names = namesIn(
    isImportDeclaration(node)
      ? node.importClause?.namedBindings
      : isExportDeclaration(node)
        ? node.exportClause
        : undefined,
  );
  return names.length === 0 ? all : names;
}

function namesIn(clause: Node | undefined): { name: string; local: string }[] {
  if (clause === undefined || !(isNamedImports(clause) || isNamedExports(clause))) return [];
  return [...clause.elements].map((each) => ({ name: (each.propertyName ?? each.name).text, local: each.name.text }));
}

function exportsOf({ tree }: Source): { name: string; node: Node }[] {
  return tree.statements.flatMap((node): { name: string; node: Node }[] => {
    if (isExportDeclaration(node)) return namesIn(node.exportClause).map(({ local }) => ({ name: local, node }));
    if (!isDefinition(node) || node.modifiers?.some(({ kind }) => kind === SyntaxKind.ExportKeyword) !== true)
      return [];
    const names = isVariableStatement(node) ? node.declarationList.declarations.map(({ name }) => name) : [node.name];
    return names.flatMap((name) => (name !== undefined && isIdentifier(name) ? [{ name: name.text, node }] : []));
  });
}

function isDefinition(node: Node) {
  return (
    isVariableStatement(node) ||
    isFunctionDeclaration(node) ||
    isClassDeclaration(node) ||
    isInterfaceDeclaration(node) ||
    isTypeAliasDeclaration(node)
  );
}
