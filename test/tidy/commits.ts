/** The subjects of commits. */
import { execFileSync } from 'node:child_process';
import type { Finding } from './source.ts';

export const SUBJECT_MAX = 72;
export const SUBJECTS_WHY =
  'A subject that is cut off in a log names no change. What does not fit belongs into the body.';

/** Older commits were written before this rule. */
const SINCE = '2026-11-22T09:24:00Z';
/** A merge names branches, not a change. */
const MERGE = /^Merge /;

/** The subjects of the commits of this checkout since the rule. */
export function recentSubjects(root: string): string[] {
  const args = ['log', `--since=${SINCE}`, '--no-merges', '--format=%s'];
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((subject) => subject !== '');
}

export function longSubjects(subjects: readonly string[]): Finding[] {
  return subjects
    .filter((subject) => subject.length > SUBJECT_MAX && !MERGE.test(subject))
    .map((subject) => ({
      path: subject,
      what: `has ${subject.length} characters, at most ${SUBJECT_MAX} are allowed`,
    }));
}
