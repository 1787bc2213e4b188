/**
 * The words and phrases that this repository does not use, in documents and in source files (names, comments and
 * strings alike). docs/contributing/words.md says how to write instead.
 */
import type { Finding, TextFile } from './source.ts';

/**
 * The folders and files whose words are clean, as the beginning of a path. Add yours when it has no finding.
 */
const DONE: readonly string[] = [
  'bench/',
  'src/',
  'scripts/',
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'STYLE.md',
  'docs/README.md',
  'docs/how-to/',
  'docs/contributing/',
  'docs/decisions/',
  'docs/explanation/',
  'docs/reference/alert-sources.md',
  'docs/reference/limits.md',
  'docs/reference/operations.md',
  'docs/reference/policy.md',
  'docs/reference/rule-file.md',
  'docs/tutorial/',
];

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
    banned: /(?<!['"])\bnobody\b(?!['"])/i,
    instead: '"no one", "nothing", or a passive',
    bad: 'Nobody waits.',
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

const DOCUMENTS = /^(README|ARCHITECTURE|CONTRIBUTING|STYLE)\.md$|^docs\/.*\.md$/;

/** Whether the words of a file are checked. The page about words has to name them. */
export function hasCheckedWords(path: string): boolean {
  if (path === 'docs/contributing/words.md') return false;
  const isProse = DOCUMENTS.test(path) || /^(src|bench|scripts)\/.*\.ts$/.test(path);
  return isProse && DONE.some((done) => path.startsWith(done));
}
