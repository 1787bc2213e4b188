/** How long a file, a line and a function may be. */
import { isCallExpression, isIdentifier, type Node, SyntaxKind } from 'typescript/unstable/ast';
import { type Finding, finding, lineAt, type SourceRule, type TextFile, walk } from './source.ts';

export const FILE_LINES_MAX = 300;
export const FUNCTION_LINES_MAX = 70;
/** The formatter's width: what it breaks by itself ends there. */
export const LINE_COLUMNS_MAX = 120;

export const FILE_LENGTH_WHY =
  'A file that one reads in one go has one subject; a longer one has two, and the second needs its own name.';

/** Of any text file. The newline at its end starts no line. */
export function fileLength({ path, text }: TextFile): Finding[] {
  const lines = text.replace(/\n$/, '').split('\n').length;
  return lines <= FILE_LINES_MAX ? [] : [{ path, what: `has ${lines} lines, at most ${FILE_LINES_MAX} are allowed` }];
}

export const LINE_LENGTH_WHY =
  'The formatter breaks code at this width, but no comment, string or pattern: break those by hand, or say less.';

/** The formatter keeps the title of a test and the head of its function on one line. */
const TEST_HEAD = /^ *(?:test|it)\((['"`]).{1,112}\1, (?:async )?\(t?\) => \{$/;

/** Of any text file: each line that is too long. */
export function lineLength({ path, text }: TextFile): Finding[] {
  return text.split('\n').flatMap((each, index) => {
    const what = `has ${each.length} columns, at most ${LINE_COLUMNS_MAX} are allowed`;
    return each.length <= LINE_COLUMNS_MAX || TEST_HEAD.test(each) ? [] : [{ path, line: index + 1, what }];
  });
}

const FUNCTIONS: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.FunctionDeclaration,
  SyntaxKind.FunctionExpression,
  SyntaxKind.ArrowFunction,
  SyntaxKind.MethodDeclaration,
  SyntaxKind.Constructor,
  SyntaxKind.GetAccessor,
  SyntaxKind.SetAccessor,
]);

export const functionLengthRule: SourceRule = {
  why:
    'A function longer than a screen is understood only by running it. The body of a describe() is a list of ' +
    'tests and does not count.',
  find(source) {
    const found: Finding[] = [];
    walk(source.tree, (node) => {
      if (!FUNCTIONS.has(node.kind) || isListOfTests(node)) return;
      const lines = lineAt(source, node.end) - lineAt(source, node.getStart(source.tree)) + 1;
      if (lines > FUNCTION_LINES_MAX)
        found.push(finding(source, node, `a function has ${lines} lines, at most ${FUNCTION_LINES_MAX} are allowed`));
    });
    return found;
  },
};

function isListOfTests(node: Node): boolean {
  const call = node.parent;
  return (
    isCallExpression(call) && isIdentifier(call.expression) && ['describe', 'suite'].includes(call.expression.text)
  );
}
