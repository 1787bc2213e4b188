/** Documents: lines that fit a screen, and commands that can be copied. */
import { LINE_COLUMNS_MAX } from '../sizes.ts';
import type { Finding, TextFile } from '../source.ts';

export const WHY =
  'A document is read in an editor and in a difference, and its commands are copied: break prose at 120 columns, and ' +
  'write one command a line. A comment beside a command holds no second one: a block wrapped by mistake does.';

/** The programs that begin a line of an `sh` block. */
const PROGRAMS = new Set(
  (
    'svc bin/svc npm node curl cat cd sudo alias export pass useradd set find jq mkdir chown git rm ' +
    'ssh-keygen ssh-copy-id systemctl python3 sed'
  ).split(' '),
);
const ASSIGNMENT = /^[A-Za-z_]\w*=/;
/** A command of this project that a comment holds, or that follows another one without `|`, `;` or `&&`. */
const SECOND_COMMAND = /(?:#.*|\b(?:svc|npm) [a-z].*(?<![|;&(]) )\b(?:svc [a-z]|npm (?:run|test|start)\b)/;
const FENCE = /^\s*```(\w*)/;
/** The row of a table about a threat or a fault. */
const NUMBERED = /^\| ([TF]\d+) +\|/;
const HERE_DOCUMENT = /<<-?\s*'?(\w+)/;

/** Of a document: prose that is too long, lines of `sh` blocks that are no command, a number with two rows. */
export function faults({ path, text }: TextFile): Finding[] {
  const found: Finding[] = [];
  const numbers = new Set<string>();
  let judge: ReturnType<typeof shellBlock> | null = null;
  for (const [index, line] of text.split('\n').entries()) {
    const fence = FENCE.exec(line);
    const say = (what: string): number => found.push({ path, line: index + 1, what });
    const [, number] = NUMBERED.exec(line) ?? [];
    // What a merge of two changes of one row leaves.
    if (number !== undefined && numbers.has(number)) say(`has a second row for ${number}`);
    if (number !== undefined) numbers.add(number);
    if (fence !== null) {
      const [, language] = fence;
      judge = judge !== null ? null : language === 'sh' ? shellBlock() : () => undefined;
    } else if (judge !== null) {
      const fault = judge(line.trim());
      if (fault !== undefined) say(fault);
    } else if (line.length > LINE_COLUMNS_MAX && !/^\s*\|/.test(line) && /\S\s+\S/.test(line.slice(4)))
      say(`has ${line.length} columns, at most ${LINE_COLUMNS_MAX} are allowed`);
  }
  return found;
}

/** Judges the lines of one block in their order; here-documents, continued lines and open quotes are no commands. */
function shellBlock(): (line: string) => string | undefined {
  let end: string | null = null;
  let isContinued = false;
  let isQuoted = false;
  return (line) => {
    if (end !== null) {
      if (line === end) end = null;
      return undefined;
    }
    const isCommand = !isContinued && !isQuoted && line !== '' && !line.startsWith('#');
    end = HERE_DOCUMENT.exec(line)?.[1] ?? null;
    isContinued = line.endsWith('\\');
    if (!line.startsWith('#') && line.replace(/ #.*/, '').split("'").length % 2 === 0) isQuoted = !isQuoted;
    if (!isCommand) return undefined;
    const [first = ''] = line.split(/\s/);
    if (!PROGRAMS.has(first) && !ASSIGNMENT.test(first)) return `begins with "${first}", which is no program`;
    return SECOND_COMMAND.test(line) ? 'holds a second command' : undefined;
  };
}

const block = (text: string): string => `\`\`\`sh\n${text}\n\`\`\`\n`;

/** Texts that the rule must find a fault in, and, with an empty fault, texts that it must let pass. */
export const SAMPLES: readonly { readonly text: string; readonly fault: RegExp }[] = [
  ...[
    'npm test    # all tests npm test -- a.ts # some; starts only when one',
    'svc secret list # names svc secret remove net/token',
    'svc secret list svc secret remove net/token',
  ].map((line) => ({ text: block(line), fault: /holds a second command/ })),
  { text: '| T99 | a |\n| T98 | b |\n| T99 | c |\n', fault: /has a second row for T99/ },
  ...['needs it npm run golden   # write', 'run ok    # types'].map((line) => ({
    text: block(line),
    fault: /which is no program/,
  })),
  { text: 'word '.repeat(25), fault: /has 125 columns/ },
  ...[
    block('# one\nsvc job list | svc job get\nexport A=b; svc serve'),
    block('curl URL \\\n  -d {}'),
    block("a=b curl -d '{\n  c\n}'"),
    block("svc rule add --file - <<'EOF'\nname: a\nEOF"),
    `| ${'cell '.repeat(40)}|\n- ${'x'.repeat(130)}`,
    `\`\`\`json\n${'word '.repeat(25)}\n\`\`\``,
  ].map((text) => ({ text, fault: /^$/ })),
];
