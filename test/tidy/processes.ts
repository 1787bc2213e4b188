/** No shell between us and a program, and no text that becomes code. */
import {
  type CallExpression,
  isArrayLiteralExpression,
  isCallExpression,
  isIdentifier,
  isImportDeclaration,
  isNamedImports,
  isNewExpression,
  isObjectLiteralExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  type Node,
  SyntaxKind,
} from 'typescript/unstable/ast';
import { isTest, judgeNodes, literal, type SourceRule } from './source.ts';

const STARTERS = ['spawn', 'spawnSync', 'execFile', 'execFileSync', 'fork'];
const SHELLS = ['sh', 'bash', 'dash', 'zsh', 'ksh', 'fish', 'busybox'];
const CHILD_PROCESS = ['child_process', 'node:child_process'];

export const shellRule: SourceRule = {
  why:
    'What reaches a shell is parsed once more, and then a name or an output can be a command. A program is ' +
    'started with an array of arguments.',
  find(source) {
    // A test's job may be a script: an argument vector with the script in it, started as an operator's job would be.
    const start = isTest(source.path) ? (): undefined => undefined : shellStart;
    return judgeNodes(source, (node) => shellImport(node) ?? shellMember(node) ?? shellOption(node) ?? start(node));
  },
};

/** `import { exec } from 'node:child_process'`. */
function shellImport(node: Node): string | undefined {
  if (!isImportDeclaration(node) || !CHILD_PROCESS.includes(literal(node.moduleSpecifier) ?? '')) return undefined;
  const bindings = node.importClause?.namedBindings;
  if (bindings === undefined || !isNamedImports(bindings)) return undefined;
  const names = bindings.elements.map((element) => (element.propertyName ?? element.name).text);
  return names.some((name) => name === 'exec' || name === 'execSync')
    ? 'imports exec or execSync, which start a shell'
    : undefined;
}

/**
 * `childProcess.execSync(...)`; `exec` alone is also a method of a RegExp, so its object must be named like the module.
 */
function shellMember(node: Node): string | undefined {
  if (!isCallExpression(node) || !isPropertyAccessExpression(node.expression)) return undefined;
  const { name, expression } = node.expression;
  const isModule = /^(cp|child_?process)$/i.test(expression.getText());
  return name.text === 'execSync' || (name.text === 'exec' && isModule)
    ? `calls ${name.text}, which starts a shell`
    : undefined;
}

/** `shell: true` anywhere, and `shell: '/bin/bash'` among the options of a start. */
function shellOption(node: Node): string | undefined {
  if (!isPropertyAssignment(node) || node.name.getText().replaceAll(/['"]/g, '') !== 'shell') return undefined;
  if (node.initializer.kind === SyntaxKind.TrueKeyword) return 'has the option shell: true';
  const call = isObjectLiteralExpression(node.parent) ? node.parent.parent : undefined;
  const asks =
    call !== undefined &&
    isCallExpression(call) &&
    startsProgram(call) &&
    node.initializer.kind !== SyntaxKind.FalseKeyword;
  return asks ? 'starts a program with the option shell' : undefined;
}

/** `spawn('sh', ['-c', text])`. */
function shellStart(node: Node): string | undefined {
  if (!isCallExpression(node) || !startsProgram(node)) return undefined;
  const [program, args] = node.arguments;
  const name = literal(program)?.split('/').at(-1);
  if (name === undefined || !SHELLS.includes(name) || args === undefined || !isArrayLiteralExpression(args))
    return undefined;
  return args.elements.some((element) => /^-[a-z]*c$/.test(literal(element) ?? '')) ? `starts ${name} -c` : undefined;
}

function startsProgram(call: CallExpression): boolean {
  const callee = isPropertyAccessExpression(call.expression) ? call.expression.name : call.expression;
  return isIdentifier(callee) && STARTERS.includes(callee.text);
}

const MAY_USE_VM = [
  // Only a new context has V8's function that collects memory.
  'src/app/run/start-memory.ts',
];

export const evalRule: SourceRule = {
  why: 'Text that becomes code is a way in for the author of the text.',
  find: (source) =>
    judgeNodes(source, (node) => {
      if (isImportDeclaration(node) && /^(node:)?vm$/.test(literal(node.moduleSpecifier) ?? ''))
        return MAY_USE_VM.includes(source.path) ? undefined : 'imports node:vm';
      if (!isCallExpression(node) && !isNewExpression(node)) return undefined;
      const name = isIdentifier(node.expression) ? node.expression.text : '';
      return name === 'eval' || name === 'Function' ? `calls ${name}` : undefined;
    }),
};
