import type { Json } from '../yaml/json.ts';
/** The `spec` of a playbook job. */
export interface PlaybookSpec {
  /** The path of the playbook in its source or directory. */
  readonly playbook: string;
  readonly source: string | null;
  /** A directory of the machine, for a run without a source. */
  readonly dir: string | null;
  /** What it was when the run was asked for: as the column of a source. Left out without one, and by earlier builds. */
  readonly dirKept?: string | null;
  readonly inventory: string;
  readonly limit: string | null;
  /** The limit is a value of an event. */
  readonly limitIsOfEvent?: boolean;
  readonly tags: readonly string[];
  readonly skipTags: readonly string[];
  readonly check: boolean;
  readonly diff: boolean;
  readonly extraVars: Readonly<Record<string, Json>>;
  readonly tolerateUnreachable: boolean;
  /** Its author hides the values of the variables from who decides. */
  readonly reveal?: false | undefined;
  readonly egressPorts: readonly number[];
  /** Directories of this machine that the run may write. Left out without any. */
  readonly writable?: readonly string[] | undefined;
  /** Variable of the environment to `<project>/<secret>`. */
  readonly runSecrets: Readonly<Record<string, string>>;
  /** The project whose secrets become vault ids and variables. */
  readonly vaultProject: string | null;
}

const PATH_CHARACTERS_MAX = 1_000;
const TAG = /^[^\s,\p{C}]{1,64}$/u;
const TAGS_MAX = 100;

/** Why a text is no path of a playbook below a folder; null for a good one. */
export function playbookFault(path: string): string | null {
  const isPath =
    path.length <= PATH_CHARACTERS_MAX &&
    path.isWellFormed() &&
    !/[\p{Cc}\\]/u.test(path) &&
    path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
  if (!isPath || path.startsWith('-')) return 'expected the path of a playbook in its source, such as site.yml';
  return null;
}

/** Why tags are refused; null for good ones. */
export function tagsFault(tags: readonly string[]): string | null {
  if (tags.length > TAGS_MAX) return `expected at most ${TAGS_MAX} tags`;
  const bad = tags.find((tag) => !TAG.test(tag) || tag.startsWith('-'));
  return bad === undefined
    ? null
    : 'expected tags of 1 to 64 characters without blanks and commas, not beginning with a hyphen';
}
