import { SERVER_SET } from '../../../domain/plan-words.ts';
import type { Projected } from '../../../views/views.ts';
import { type Display, type Paint, paint } from '../../text/display.ts';
import { inline } from '../../text/safe.ts';

type Plan = Projected<'approval.plan'>;
type Entry = Plan['destroys'][number];

interface Sign {
  readonly sign: string;
  readonly paint: Paint;
}

const SIGNS: Readonly<Record<Entry['action'], Sign>> = {
  destroy: { sign: '−', paint: 'red' },
  replace: { sign: '−/+', paint: 'red' },
  update: { sign: '~', paint: 'yellow' },
  create: { sign: '+', paint: 'green' },
};
/** Of an action that this build does not know. */
const STRANGE: Sign = { sign: '?', paint: 'red' };

/** A plan, destroys first. Its summary is the first and the last line: people read the last line of a plan. */
function plan(data: Plan, display: Display): string {
  const summary = data.summary.replace(/\.$/, '');
  const entries = [...data.destroys, ...data.changes, ...data.creates].map((entry) => entryText(entry, display));
  const last = paint(display, 'bold', inline(`Plan: ${summary}.`));
  return [
    paint(display, 'bold', inline(`Plan ${data.artifact_id}: ${summary}.`)),
    '',
    ...entries,
    ...(entries.length === 0 ? [] : ['']),
    last,
    '',
  ].join('\n');
}

function entryText({ address, action, attributes }: Entry, display: Display): string {
  const { sign, paint: format } = SIGNS[action] ?? STRANGE;
  const head = paint(display, format, inline(`${sign} ${address} (${action})`));
  return [
    head,
    ...attributes.map(
      ({ name, before, after }) =>
        `    ${inline(name)}: ${changeText(action, inline(before), inline(knownLater(after)))}`,
    ),
  ].join('\n');
}

/** In words of people what the JSON calls redacted: a value that is known only after the apply. */
export function knownLater(value: string): string {
  return value.replaceAll(JSON.stringify(SERVER_SET), KNOWN_LATER).replaceAll(SERVER_SET, KNOWN_LATER);
}

const KNOWN_LATER = '(known after apply)';

/** What is created has no value before, and what is destroyed none after. The values are safe to show already. */
function changeText(action: Entry['action'], before: string, after: string): string {
  if (action === 'create' && before === '') return after;
  if (action === 'destroy' && after === '') return before;
  return `${before === '' ? '(empty)' : before} → ${after === '' ? '(empty)' : after}`;
}

export const PLAN_TEXTS = { 'approval.plan': plan };
