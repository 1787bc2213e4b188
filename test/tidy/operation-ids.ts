/** An operation is a row: other code takes what it needs to know from the row, and compares no id. */
import { isBinaryExpression, isCaseClause, type Node, SyntaxKind } from 'typescript/unstable/ast';
import { OPERATIONS } from '../../src/operations/table.ts';
import { isTest, judgeNodes, literal, literalsOf, type SourceRule } from './source.ts';

const IDS: ReadonlySet<string> = new Set(OPERATIONS.map(({ id }) => id));
const EQUALITY: readonly SyntaxKind[] = [SyntaxKind.EqualsEqualsEqualsToken, SyntaxKind.ExclamationEqualsEqualsToken];

export const operationIdRule: SourceRule = {
  why:
    'A face, a loop or a test of health that knows single operations has to be changed with each new one. Add a ' +
    'column to the row (src/operations/core/operation.ts), or import the row itself.',
  find(source) {
    if (!source.path.startsWith('src/') || isTest(source.path)) return [];
    return judgeNodes(source, (node) => judge(node, source.text));
  },
};

/** The file of the row itself may. */
function judge(node: Node, file: string): string | undefined {
  const compared = isCaseClause(node)
    ? [node.expression]
    : isBinaryExpression(node) && EQUALITY.includes(node.operatorToken.kind)
      ? [node.left, node.right]
      : [];
  const id = [...compared.map(literal), ...literalsOf(node)].find(
    (text) => text !== undefined && IDS.has(text) && !file.includes(`id: '${text}'`),
  );
  return id === undefined ? undefined : `compares the id of the operation ${id}`;
}
