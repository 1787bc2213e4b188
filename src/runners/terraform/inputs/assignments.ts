/**
 * The assignments of a file of variables, each as it is written. Only what a value may contain is known of HCL: texts
 * with templates, heredocs, comments and brackets. The tool has read the file before, and reads the result again.
 */

const COMMENT = String.raw`#[^\n]*|\/\/[^\n]*|\/\*[^]*?\*\/`;
const IDENTIFIER = String.raw`([\p{ID_Start}_][\p{ID_Continue}-]*)`;
/** It ends with its marker alone in a line. */
const HEREDOC = String.raw`<<-?${IDENTIFIER}\r?\n(?:[^]*?\n)?[^\S\n]*\1(?=[^\S\n]*(?:\n|$))`;

const BLANK = new RegExp(String.raw`(?:\s|${COMMENT})+`, 'uy');
const NAME = new RegExp(String.raw`${IDENTIFIER}[^\S\n]*=`, 'uy');
/** One piece of a value outside a text. */
const CODE = new RegExp(`${COMMENT}|${HEREDOC}|[^]`, 'uy');
/** The same in a text: `$${` begins no template, and what follows a backslash is no quote. */
const TEXT = /\\[^]|\$\$\{|%%\{|[$%]\{|[^]/uy;

const ENDS: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}', '${': '}', '%{': '}', '"': '"' };

interface Assignment {
  readonly name: string;
  readonly text: string;
}

/** Up to the first place that is no assignment. */
export function assignmentsOf(text: string): Assignment[] {
  const found: Assignment[] = [];
  for (let at = skip(BLANK, text, 0); at < text.length;) {
    NAME.lastIndex = at;
    const name = NAME.exec(text)?.[1];
    if (name === undefined) break;
    const end = endOfValue(text, NAME.lastIndex);
    found.push({ name, text: text.slice(at, end) });
    at = skip(BLANK, text, end);
  }
  return found;
}

/** A value ends with the first line end outside of every text and bracket. */
function endOfValue(text: string, from: number): number {
  const open: string[] = [];
  for (let at = from; at < text.length;) {
    const end = open.at(-1);
    const piece = end === '"' ? TEXT : CODE;
    piece.lastIndex = at;
    const token = piece.exec(text)?.[0] ?? '';
    if (token === '\n' && open.length === 0) return at;
    if (token === end) open.pop();
    else if (end !== '"' || token.length === 2) open.push(...(ENDS[token] === undefined ? [] : [ENDS[token]]));
    at += token.length;
  }
  return text.length;
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
