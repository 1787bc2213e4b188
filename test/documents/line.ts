/** A line of shell that is one call of `svc`: it can run in this process, in a tenth of the time of a shell. */

export interface SvcLine {
  readonly words: readonly string[];
  /** The file that standard input comes from. */
  readonly input: string | null;
  /** The file that standard output is written to. */
  readonly output: string | null;
}

const TOKEN = /\s*(?:([<>])|((?:'[^']*'|"[^"$`\\]*"|[^\s'"<>|&;()$`*\\]|\\.)+))/y;
const PART = /'([^']*)'|"([^"]*)"|\\(.)|([^'"\\]+)/g;

/** Null for what only a shell can do: a pipe, a second command, a variable. */
export function svcLine(command: string, home: string): SvcLine | null {
  const text = command.trim().replace(/^bin\/svc\b/, 'svc');
  if (!/^svc\s/.test(text) || text.includes('<<')) return null;
  const words: string[] = [];
  const files: Record<string, string | null> = { '<': null, '>': null };
  let redirect: string | null = null;
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const found = TOKEN.exec(text);
    if (found === null) return null;
    const [, sign, raw = ''] = found;
    if (sign !== undefined) redirect = sign;
    else if (redirect === null) words.push(wordOf(raw, home));
    else {
      files[redirect] = wordOf(raw, home);
      redirect = null;
    }
  }
  return { words: words.slice(1), input: files['<'] ?? null, output: files['>'] ?? null };
}

function wordOf(raw: string, home: string): string {
  const text = raw.startsWith('~/') ? `${home}${raw.slice(1)}` : raw;
  return [...text.matchAll(PART)]
    .map(([, single, double, escaped, bare]) => single ?? double ?? escaped ?? bare ?? '')
    .join('');
}
