/** Only the store knows SQL. */
import {
  isCallExpression,
  isPropertyAccessExpression,
  isTaggedTemplateExpression,
  isTemplateExpression,
  type Node,
} from 'typescript/unstable/ast';
import { judgeNodes, literal, type SourceRule } from './source.ts';

/** The beginnings of statements, in a form that a sentence for people does not have. */
const STATEMENT = new RegExp(
  [
    String.raw`select\s+(\*|\d+\s*$|\w+\()`,
    String.raw`select\s[^;]*\sfrom\s+[\w."]+\s*($|;|,|where|order|group|limit|join|as\s)`,
    String.raw`insert\s+(or\s+\w+\s+)?into\s+\w+\s*(\(|values|select)`,
    String.raw`update\s+\w+\s+set\s+\w+\s*=`,
    String.raw`delete\s+from\s+\w+\s*($|where|;)`,
    String.raw`(create|alter|drop)\s+(unique\s+)?(table|index|view|trigger|database)\s`,
    String.raw`with\s+(recursive\s+)?\w+\s+as\s*\(`,
    String.raw`pragma\s+\w+\s*($|=|\(|;)`,
    String.raw`begin\s+(immediate|exclusive|transaction)`,
  ]
    .map((form) => String.raw`^\s*${form}`)
    .join('|'),
  'i',
);

/** The builder's beginnings of a query. */
const BUILDERS = ['selectFrom', 'insertInto', 'updateTable', 'deleteFrom', 'replaceInto', 'mergeInto'];

export const sqlRule: SourceRule = {
  why:
    'The store is the one place where two databases, transactions and conditional moves are kept right. Give ' +
    'the query a name there.',
  find(source) {
    const exempt = !source.path.startsWith('src/') || source.path.startsWith('src/store/');
    return exempt ? [] : judgeNodes(source, judge);
  },
};

function judge(node: Node): string | undefined {
  const text = isTemplateExpression(node) ? node.head.text : literal(node);
  if (text !== undefined && STATEMENT.test(text)) return `holds SQL: ${text.trim().slice(0, 40)}`;
  if (isTaggedTemplateExpression(node) && node.tag.getText() === 'sql') return 'holds SQL in a template';
  if (!isCallExpression(node) || !isPropertyAccessExpression(node.expression)) return undefined;
  const { name } = node.expression;
  return BUILDERS.includes(name.text) ? `builds a query by ${name.text}` : undefined;
}
