import type { Projected } from '../../../views/views.ts';
import type { Display } from '../../text/display.ts';
import { inline, line } from '../../text/safe.ts';
import { relative } from '../../text/time.ts';

type Diff = Projected<'config.diff'>;
type Change = Diff['changes'][number];

const MARKS: Readonly<Record<Change['change'], string>> = { add: '+', change: '~', remove: '-' };

/** The file as it is, so that it can be applied. */
function configFile({ text }: Projected<'config.exported'>): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}

function configDiff(data: Diff, display: Display): string {
  const summary =
    data.changes.length === 0 ? 'No differences.' : `${counted(data, 'to add', 'to change', 'to remove')}.`;
  return changesText(data, display) + takenText(data, 'To be managed') + line(summary);
}

function configApplied(data: Projected<'config.applied'>, display: Display): string {
  const { webhooks } = data;
  const isSame = data.changes.length === 0;
  const nothing = data.taken.length === 0 ? 'Nothing to do.' : 'Nothing else to do.';
  const summary = isSame ? nothing : `${counted(data, 'added', 'changed', 'removed')}.`;
  const shown = webhooks.flatMap(({ name, url, signing_secret: secret }) => [
    line(`Webhook ${name}. Shown only now: ${url}`),
    ...(secret === null ? [] : [line(`Its signing secret: ${secret}`)]),
  ]);
  return changesText(data, display) + shown.join('') + takenText(data, 'Now managed') + line(summary);
}

/** Whose the objects become; those of another set are named with it. */
function takenText({ set, taken }: Diff, verb: string): string {
  if (taken.length === 0) return '';
  const before = [...new Set(taken.flatMap(({ from }) => (from === null ? [] : [from])))];
  const from = before.length === 0 ? '' : `, before by ${before.join(', ')}`;
  return line(`${verb} by the set ${set ?? ''}: ${taken.length} ${taken.length === 1 ? 'object' : 'objects'}${from}.`);
}

function counted({ changes, same }: Diff, ...words: readonly [add: string, change: string, remove: string]): string {
  const kinds = ['add', 'change', 'remove'] as const;
  const counts = kinds.map((kind, at) => `${changes.filter(({ change }) => change === kind).length} ${words[at]}`);
  return `${counts.join(', ')}; ${same} as in the file`;
}

function changesText({ changes, left }: Diff, display: Display): string {
  const kept = left.map(({ kind, name }) => line(`  ${kind} ${name} is not in the file; --prune removes it`));
  return [...changes.map((each) => changeText(each, display)), ...kept].join('');
}

function changeText({ change, kind, name, fields, by_hand: byHand }: Change, display: Display): string {
  const head = line(`${MARKS[change]} ${kind} ${name}`);
  const values = fields.map(({ field, from, to }) =>
    line(inline(`    ${field}: ${from === to ? 'another credential' : `${from ?? '(none)'} -> ${to ?? '(none)'}`}`)),
  );
  if (byHand === null) return head + values.join('');
  const { principal, operation, at } = byHand;
  const who = principal === null ? 'by hand' : `by ${principal}, ${operation}, ${relative(at, display.nowMs)}`;
  return head + values.join('') + line(`    changed ${who}`);
}

export const CONFIGURATION_TEXTS = {
  'config.exported': configFile,
  'config.diff': configDiff,
  'config.applied': configApplied,
};
