/** The code blocks of the documents, and what their commands are. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..', '..');
export const DOCUMENTS: readonly string[] = ['README.md', ...globSync('docs/**/*.md', { cwd: ROOT }).toSorted()];

export interface Block {
  readonly path: string;
  /** Of its first line of code, from 1. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
  /** What its last command ends with: a comment `<!-- exits with N -->` before the block says so. */
  readonly exitCode: number;
}

const FENCE = /^( *)```(\w*)/;
const EXIT = /^ *<!-- exits with (\d+) -->$/;

export function blocksOf(path: string): Block[] {
  const lines = readFileSync(join(ROOT, path), 'utf8').split('\n');
  const found: Block[] = [];
  let exitCode = 0;
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const fence = FENCE.exec(line);
    if (fence === null) {
      if (line.trim() !== '') exitCode = Number(EXIT.exec(line)?.[1] ?? 0);
      continue;
    }
    const [, indent = '', language = ''] = fence;
    const end = lines.indexOf(`${indent}\`\`\``, at + 1);
    if (end < 0) throw new Error(`${path}:${at + 1}: the block has no end`);
    const text = lines.slice(at + 1, end).map((each) => each.slice(indent.length));
    found.push({ path, line: at + 2, language, text: text.join('\n'), exitCode });
    at = end;
    exitCode = 0;
  }
  return found;
}

/** What is in no open quote: escaped characters, and texts in quotes. */
const CLOSED = /\\.|'[^']*'|"(?:\\.|[^"\\])*"/gs;

const HERE_DOCUMENT = /<<-?\s*'?(\w+)/;

export interface Step {
  readonly line: number;
  /** As it is written, with its here-document. */
  readonly text: string;
  /** On one line, without comment and here-document. */
  readonly command: string;
}

/** The commands of a block of shell. */
export function stepsOf(block: Block): Step[] {
  const found: Step[] = [];
  let end: string | null = null;
  let open: Step | null = null;
  for (const [at, line] of block.text.split('\n').entries()) {
    const before: Step = open ?? { line: block.line + at, text: '', command: '' };
    const isData = end !== null;
    if (!isData) end = HERE_DOCUMENT.exec(line)?.[1] ?? null;
    else if (line === end) end = null;
    const words: string = isData ? '' : line.replace(/(^|\s)#.*$/, '');
    const continues = words.endsWith('\\');
    const joined = before.command + (continues ? `${words.slice(0, -1)} ` : words);
    // A text in quotes may have several lines.
    const isQuoted = end === null && /['"]/.test(joined.replace(CLOSED, ''));
    const step: Step = { line: before.line, text: `${before.text}${line}\n`, command: joined + (isQuoted ? '\n' : '') };
    open = continues || isQuoted || end !== null ? step : null;
    if (open === null && step.command.trim() !== '') found.push(step);
  }
  return found;
}

/** The words of each `svc` that a command calls: quotes are taken off, and what is redirected or piped is left out. */
export function svcCalls(command: string): string[][] {
  return [...command.matchAll(/(?:^|[|;&(]\s*|\$\(|\s)(?:bin\/)?svc(?=\s)/g)].map(({ index }) =>
    wordsOf(command.slice(index)),
  );
}

/** The words after the first `svc` of a line of shell, up to what ends the command. */
export function wordsOf(line: string): string[] {
  const words = line
    .slice(line.indexOf('svc ') + 4)
    .matchAll(/'([^']*)'|"([^"]*)"|(\d?[<>)|;&])|((?:[^\s<>)|;&'"]|(?<=\S)["'][^"']*["'])+)/g);
  const found: string[] = [];
  for (const [, single, double, end, bare] of words) {
    if (end !== undefined) break;
    found.push(single ?? double ?? bare ?? '');
  }
  return found;
}
