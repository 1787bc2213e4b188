import type { OrderedChange } from '../configuration/change.ts';
import { oneLine } from '../one-line.ts';
import { readableWord } from '../shell-word.ts';

/** What the words of an order are made of: fields of the view `order`. */
interface OrderWords {
  readonly inventory: string | null;
  readonly hosts: { readonly count: number; readonly names: readonly string[] } | null;
  readonly limit: string | null;
  readonly tags: readonly string[] | null;
  readonly skip_tags: readonly string[] | null;
  readonly command: readonly string[] | null;
  readonly playbook: string | null;
  readonly source: string | null;
  readonly source_commit: string | null;
  readonly path: string | null;
  readonly extra_vars: Readonly<Record<string, unknown>> | null;
  readonly secrets: readonly string[] | null;
  readonly changes: readonly OrderedChange[] | null;
  readonly privileged: boolean;
  readonly timeout: string;
  readonly summary: string | null;
  readonly schedule: string | null;
  readonly writable: readonly string[] | null;
  readonly egress_ports: readonly number[] | null;
  readonly alert: {
    readonly name: string | null;
    readonly status: string | null;
    readonly severity: string | null;
    readonly host: string | null;
    readonly sender_text: { readonly summary: string | null; readonly description: string | null };
  } | null;
  readonly step: {
    readonly run_id: string;
    readonly workflow: string;
    readonly name: string;
    readonly failed_before: readonly { readonly name: string; readonly state: string }[];
  } | null;
}

/** Hosts that are named before the others are counted. */
const NAMED_MAX = 5;
const WORDS = { add: 'Adds', change: 'Changes', remove: 'Removes' } as const;
/** Characters of the words of a command, or of variables, in one line. */
const WORDS_CHARACTERS = 300;

/**
 * What is ordered, as a person decides: what and where, because of what, and what it may touch. Null: nothing to say.
 * The summary comes after the words of the order, as its author may have been wrong.
 */
export function orderEntries(order: OrderWords): readonly (readonly [name: string, value: string | null])[] {
  return [
    ['Runs', whatRuns(order)],
    ['On', whereRuns(order)],
    ['With', howRuns(order)],
    ...(order.changes ?? []).map((each) => [WORDS[each.change], whatChanges(each)] as const),
    ['Its author says', order.summary],
    ['Alert', whichAlert(order)],
    ['Its sender says', whatTheSenderSays(order)],
    ['Schedule', order.schedule],
    ['Step', whichStep(order)],
    ['Failed before', whatFailedBefore(order)],
    ['May touch', whatItTouches(order)],
    ['Time limit', order.timeout],
  ];
}

/** What runs, and from where: null for a kind that starts no program of its order, or whose words are not shown. */
function whatRuns({ command, playbook, source, source_commit: commit, path }: OrderWords): string | null {
  if (command !== null) return cut(command.map(readableWord).join(' '));
  if (playbook === null) return null;
  const from = source ?? path;
  const at = commit === null ? '' : ` at ${commit.slice(0, 7)}`;
  return `${playbook}${from === null ? '' : ` of ${from}`}${at}`;
}

/** The hosts that the order selects now; null for a kind that has none. */
function whereRuns({ inventory, hosts, limit }: OrderWords): string | null {
  if (inventory === null || hosts === null) return null;
  const by = limit === null ? '' : `, limit ${limit}`;
  if (hosts.count === 0) return `no host of ${inventory} now${by}`;
  const named = hosts.names.slice(0, NAMED_MAX);
  const more = hosts.count - named.length;
  const list = `${named.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
  return hosts.count === 1 && named[0] === inventory ? list : `${list} (${hosts.count} of ${inventory}${by})`;
}

/** An object of the configuration, and what is another value of it than before: all of it, as who decides needs it. */
function whatChanges({ kind, name, fields }: OrderedChange): string {
  const differs = fields.map(
    ({ field, from, to }) => `${field}: ${from === null ? '' : `${from} → `}${to ?? 'nothing'}`,
  );
  return oneLine(`${kind} ${name}${differs.length === 0 ? '' : ` (${differs.join('; ')})`}`);
}

/** Tags and variables of a playbook; null without any. */
function howRuns({ tags, skip_tags: skipped, extra_vars: vars }: OrderWords): string | null {
  const parts = [
    ...(tags === null || tags.length === 0 ? [] : [`tags ${tags.join(', ')}`]),
    ...(skipped === null || skipped.length === 0 ? [] : [`without tags ${skipped.join(', ')}`]),
    ...Object.entries(vars ?? {}).map(([name, value]) => `${name}=${textOf(value)}`),
  ];
  return parts.length === 0 ? null : cut(parts.join(', '));
}

/** What it may touch beside its hosts; null for an order that stays in the sandbox and gets no secret. */
function whatItTouches(order: OrderWords): string | null {
  const { privileged, writable, egress_ports: ports, secrets } = order;
  const parts = [
    ...(privileged ? ['all of this machine: it runs outside the sandbox'] : []),
    ...(writable === null || writable.length === 0 ? [] : [`writes ${writable.join(', ')}`]),
    ...(ports === null || ports.length === 0
      ? []
      : [`connects to port${ports.length === 1 ? '' : 's'} ${ports.join(', ')}`]),
    ...(secrets === null || secrets.length === 0 ? [] : [`gets the secrets ${secrets.join(', ')}`]),
  ];
  return parts.length === 0 ? null : cut(parts.join('; '));
}

/**
 * The alert that asked for it, such as `DiskFull on web1, warning`, and that it is about another host than the order
 * where that is known; null without one.
 */
function whichAlert({ alert, inventory, hosts }: OrderWords): string | null {
  if (alert === null) return null;
  const { name, status, severity, host } = alert;
  const subject = `${name ?? 'an event without a name'}${host === null ? '' : ` on ${host}`}`;
  // What runs on the machine of the service may well be about another one.
  const isElsewhere = host !== null && hosts !== null && hosts.names[0] !== inventory && !mayInclude(hosts, host);
  const parts = [subject, ...(severity === null ? [] : [severity]), ...(status === null ? [] : [status])];
  return `${parts.join(', ')}${isElsewhere ? `; ${host} is not one of the hosts above` : ''}`;
}

/** Whether a host may be one of them: names are compared without their domain, and not all may be known. */
function mayInclude({ count, names }: NonNullable<OrderWords['hosts']>, host: string): boolean {
  return count > names.length || names.some((name) => shortName(name) === shortName(host));
}

function shortName(host: string): string {
  const isAddress = /^[\d.]+$|:/.test(host);
  return isAddress ? host : (host.toLowerCase().split('.')[0] ?? host);
}

/** What the sender of the alert says of it: a text of a stranger. */
export function whatTheSenderSays({ alert }: OrderWords): string | null {
  const { summary = null, description = null } = alert?.sender_text ?? {};
  const said = [summary, description].filter((text) => text !== null && text !== '');
  return said.length === 0 ? null : said.join(' · ');
}

/** The step of a workflow that it is; null for another job. */
function whichStep({ step }: OrderWords): string | null {
  return step === null ? null : `${step.name} of ${step.run_id} (workflow ${step.workflow})`;
}

/** The steps before it that did not succeed; null for none. */
function whatFailedBefore({ step }: OrderWords): string | null {
  const failed = step?.failed_before ?? [];
  return failed.length === 0 ? null : cut(failed.map(({ name, state }) => `${name} (${state})`).join(', '));
}

/** In one line: `Run clean.yml of ops at 3f2a1c9 on web1, web2 (2 of prod).` Null where the order has neither. */
export function orderLine(order: OrderWords): string | null {
  const { changes } = order;
  if (changes !== null)
    return oneLine(`${cut(changes.map((each) => `${WORDS[each.change]} ${each.kind} ${each.name}`).join(', '))}.`);
  const [what, where, how] = [whatRuns(order), whereRuns(order), howRuns(order)];
  if (what === null && where === null) return null;
  const on = where === null ? '' : ` on ${where}`;
  const words = `${what === null ? 'Runs' : `Run ${what}`}${on}${how === null ? '' : `, with ${how}`}`;
  return oneLine(`${cut(words)}.`);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function cut(text: string): string {
  const letters = Array.from(text);
  return letters.length <= WORDS_CHARACTERS ? text : `${letters.slice(0, WORDS_CHARACTERS).join('')}…`;
}
