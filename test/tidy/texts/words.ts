/**
 * The words and phrases that this repository does not use, in documents and in source files (names, comments and
 * strings alike). docs/contributing/words.md says how to write instead.
 */
import type { Finding, TextFile } from '../source.ts';

/** The files whose words are checked. */
const CHECKED = /^((README|ARCHITECTURE|CONTRIBUTING|STYLE)|docs\/.*)\.md$|^(src|bench|scripts|test)\/.*\.(ts|sh)$/;

/** The exceptions, each with its reason. */
export const UNCHECKED: Readonly<Record<string, string>> = {
  'docs/contributing/words.md': 'explains the words to avoid, and so names them',
  'test/tidy/texts/words.ts': 'is the list of banned words, with a bad sample of each',
};

export const WORDS_WHY =
  'A sentence that a reader has to decode is misread at three in the morning: see docs/contributing/words.md.';

interface BannedWords {
  /** A space matches any white space, also across the lines of a comment or a string. */
  readonly banned: RegExp;
  readonly instead: string;
  readonly bad: string;
  /** A plain use that the pattern must let pass. */
  readonly good: string;
}

export const BANNED_WORDS: readonly BannedWords[] = [
  {
    // `.told` ends the name of a folder on the disk.
    banned: /(?<!\.)\btold\b/i,
    instead: 'result, data, failure or message; "is notified"',
    bad: 'const told = await call();',
    good: 'foretold, untold, job_1.told',
  },
  { banned: /\banew\b/i, instead: '"again"', bad: 'It is read anew.', good: 'a new one' },
  { banned: /\bmeanwhile\b/i, instead: '"in the mean time", or name the moment', bad: 'Meanwhile', good: 'while' },
  {
    banned: /\b(so many|so often|as many as may)\b/i,
    instead: 'the number, or "at most N"',
    bad: 'At most\n * so many jobs.',
    good: 'as many as before',
  },
  {
    banned: /\b(is|are) none\b/i,
    instead: '"is not a …", "there is no …"',
    bad: 'the port is none',
    good: 'is not one',
  },
  { banned: /\bthere is not\b/i, instead: '"there is no …"', bad: 'There is not one', good: 'There is nothing' },
  {
    banned: /\bof (its|their|your|his|one's) own\b/i,
    instead: '"its own …", "a separate …"',
    bad: 'a file of its\n * own',
    good: 'its own file',
  },
  {
    banned: /\bstands\b(?! for\b)/i,
    instead: '"is", "remains"',
    bad: 'The rule stands',
    good: '"h" stands for hours; a standstill',
  },
  {
    banned: /\bgoes\b/i,
    instead: '"is sent", "is removed", "is written"',
    bad: 'It goes to the log',
    good: 'undergoes',
  },
  { banned: /\bwhat is not\b/i, instead: 'name the thing', bad: 'What is not given stays', good: 'what is given' },
  { banned: /\bwhoever\b/i, instead: '"the user who", "anyone who"', bad: 'Whoever asks', good: 'who ever asked' },
  {
    // A quoted name, such as that of the account or of a caller without a token, is no prose.
    banned: /\bnobody\b(?!['"\\])|(?<!['"])\bnobody\b/i,
    instead: '"no one", "nothing", or a passive',
    bad: "until('nobody waits', done)",
    good: "user: 'nobody'",
  },
  {
    banned: /\b(comes? to nothing|(and|or) the like|gets? by|is ill)\b/i,
    instead: 'the standard term: "fails", "and similar", "works without", "is unhealthy"',
    bad: 'The attempt comes to nothing',
    good: 'is like the others',
  },
  {
    banned: /\bwho asked may not\b/i,
    instead: '"the requester cannot …"',
    bad: 'Who asked may not decide',
    good: 'The requester may not decide',
  },
  { banned: /\bcan not\b/i, instead: '"cannot"', bad: 'It can not be read', good: 'It can notify' },
  { banned: /\binside of\b/i, instead: '"inside"', bad: 'inside of the folder', good: 'inside the folder' },
  { banned: /\bit says not\b/i, instead: '"it does not say"', bad: 'it says not what', good: 'it says nothing' },
  {
    banned: /\b(paged|send(s|ing)? (a|no|the) pages?|sent (a|no|the) pages?)\b/i,
    instead: '"notification"; a page is an HTML page only',
    bad: 'Send a page',
    good: 'Show the page; sends a notification',
  },
  { banned: /[‘’“”]/, instead: 'straight quotes and apostrophes', bad: 'a host’s token', good: "a host's token" },
  {
    banned: /\b(Patience|Breather|untilRulesRest|othersFirst|ODD_ATTEMPTS)\b/,
    instead: 'ClientWait, YieldTimer, retryOnRuleChange, yieldThen, OTHER_ERROR_ATTEMPTS',
    bad: 'readonly patience: Patience',
    good: 'patience',
  },
];

/** Where the words of `pattern` may be parted: by white space and what begins or joins the lines of a text. */
const GAP = String.raw`(?:\s|[*/+>'"\x60])+`;

const PATTERNS = BANNED_WORDS.map(({ banned, instead }) => ({
  pattern: new RegExp(banned.source.replaceAll(' ', GAP), `${banned.flags}g`),
  instead,
}));

/** What banned words a text contains. Inline code of a document is not prose: it may name a word of the wire. */
export function bannedWords({ path, text }: TextFile): Finding[] {
  const prose = path.endsWith('.md')
    ? text.replaceAll(/`[^`\n]+(\n[^`\n]+)?`/g, (code) => '_'.repeat(code.length))
    : text;
  return PATTERNS.flatMap(({ pattern, instead }) =>
    [...prose.matchAll(pattern)].map((match) => ({
      path,
      line: text.slice(0, match.index).split('\n').length,
      what: `says "${match[0].replaceAll(/\s+/g, ' ')}"; write ${instead}`,
    })),
  );
}

/** The text of a document: inline code may name a word, prose may not. */
export const DOCUMENT_SAMPLE = { good: 'The account `nobody` runs it.', bad: 'The account `x`\nruns it for nobody.' };

/** Whether the words of a file are checked. */
export function hasCheckedWords(path: string): boolean {
  return CHECKED.test(path) && !Object.hasOwn(UNCHECKED, path);
}
