import { hash } from 'node:crypto';
import {
  CUT_ANNOTATION,
  EVENT_LIMITS,
  type EventStatus,
  type NormalEvent,
  type WebhookSource,
} from '../../domain/events/event.ts';
import { isCredentialName } from '../../domain/secrets/credential-name.ts';
import { withoutCredentials } from './credentials.ts';
import type { Fields } from './payload.ts';
import { severityOf } from './status.ts';

/** Labels that the ingress adds to each event; the sender's have the other places. */
export const INGRESS_LABELS = ['peer_ip', 'peer_netgroup', 'netgroup'] as const;
/** The annotation in which the ingress names the webhook of an event: two webhooks of one kind look alike otherwise. */
export const WEBHOOK_ANNOTATION = 'webhook';

const LABELS_MAX = EVENT_LIMITS.labels - INGRESS_LABELS.length;
/** Reserves places for the annotations of the service. */
const ANNOTATIONS_MAX = EVENT_LIMITS.labels - [CUT_ANNOTATION, WEBHOOK_ANNOTATION].length;
/** 16 hexadecimal digits, as Alertmanager's own fingerprints have. */
const FINGERPRINT_DIGITS = 16;
/**
 * Characters read beyond a limit, so that a credential cut by the limit is recognised. Later characters are never read:
 * the work for a text does not grow with its length.
 */
const LOOKAHEAD_CHARACTERS = 512;

/** A fingerprint of such digits has nothing to clean, and is not worth keeping: each alert has another. */
const HEXADECIMAL = /^[0-9a-f]{1,64}$/;

/** Short texts of which the same was found out before: names and values of labels come again with each alert. */
class KnownTexts {
  static readonly #MAX = 2_000;
  static readonly #CHARACTERS_MAX = 200;
  readonly #texts = new Set<string>();

  has(text: string): boolean {
    return this.#texts.has(text);
  }

  add(text: string): void {
    if (text.length > KnownTexts.#CHARACTERS_MAX) return;
    if (this.#texts.size >= KnownTexts.#MAX) this.#texts.clear();
    this.#texts.add(text);
  }
}

/** Those that stay as they are when they are cleaned. */
const cleanTexts = new KnownTexts();
const harmlessNames = new KnownTexts();

/** What a sender sent about one subject, neither limited nor cleaned. */
interface RawEvent {
  readonly source: WebhookSource;
  /** Any value: a value that is not text counts as missing. */
  readonly name: unknown;
  readonly status: EventStatus | null;
  /** Without one, the label `severity` is used. */
  readonly severity?: unknown;
  /** The sender's own, if it has one. */
  readonly fingerprint?: unknown;
  /** The source of a fingerprint if the sender has none; the same for the same subject. Default: name and labels. */
  readonly identity?: readonly unknown[];
  readonly labels: Fields;
  readonly annotations: Fields;
}

/**
 * Limits and cleans the data of a sender: no credential, no NUL (PostgreSQL text cannot hold one), nothing longer than
 * EVENT_LIMITS.
 */
export function makeEvent(raw: RawEvent): NormalEvent {
  const cuts: string[] = [];
  const labels = cleanRecord(raw.labels, LABELS_MAX, 'label', cuts);
  const annotations = cleanRecord(raw.annotations, ANNOTATIONS_MAX, 'annotation', cuts);
  const rawName = textOf(raw.name) ?? '';
  const name = cleanText(rawName, EVENT_LIMITS.nameCharacters);
  if (isCut(rawName, name, EVENT_LIMITS.nameCharacters)) cuts.push('the name is cut');
  // Cleaned in its original case: in small letters a credential looks like a word.
  const own = typeof raw.severity === 'string' ? cleanText(raw.severity, EVENT_LIMITS.nameCharacters) : null;
  const severity = severityOf(own) ?? severityOf(labels['severity']);
  if (cuts.length > 0) annotations[CUT_ANNOTATION] = cutTo(cuts.join('; '), EVENT_LIMITS.valueCharacters);
  return {
    source: raw.source,
    name,
    status: raw.status,
    severity: severity === null ? null : cutTo(severity, EVENT_LIMITS.nameCharacters),
    fingerprint: fingerprintOf(raw, name, labels),
    labels,
    annotations,
  };
}

/** Text as it is, a number or a truth value as text; null for all else. */
export function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}

/** The entries whose value is a text that is not empty. */
export function said(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => textOf(value) !== null && value !== ''));
}

function fingerprintOf(
  { source, fingerprint, identity }: RawEvent,
  name: string,
  labels: Readonly<Record<string, string>>,
): string {
  const own = textOf(fingerprint);
  if (own !== null && own !== '') {
    // Two different ones could become equal when cut.
    return HEXADECIMAL.test(own) ||
      (own.length <= EVENT_LIMITS.nameCharacters && cleanText(own, EVENT_LIMITS.nameCharacters) === own)
      ? own
      : digest([own]);
  }
  // Texts only: a value nested a hundred thousand levels deep can be parsed, but not written.
  if (identity !== undefined) return digest([source, ...identity.map(textOf)]);
  return digest([
    source,
    name,
    ...Object.entries(labels)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .flat(),
  ]);
}

function digest(parts: readonly (string | null)[]): string {
  return hash('sha256', JSON.stringify(parts)).slice(0, FINGERPRINT_DIGITS);
}

/** Without entries named like a credential; adds each cut to `cuts`. */
function cleanRecord(fields: Fields, max: number, what: string, cuts: string[]): Record<string, string> {
  const kept: [string, string][] = [];
  const keys = Object.keys(fields);
  let left = 0;
  for (const [at, key] of keys.entries()) {
    if (kept.length === max) {
      left += keys.length - at;
      break;
    }
    const text = textOf(fields[key]);
    if (text === null) continue;
    // The end of such a long name is not checked for a credential.
    if (key.length > EVENT_LIMITS.keyCharacters + LOOKAHEAD_CHARACTERS) left += 1;
    else if (isHarmlessName(key)) kept.push(cleanEntry(key, text, what, cuts));
  }
  if (left > 0) cuts.push(`${left} more ${what}s left out`);
  // Not by assignment: a label may be called __proto__.
  return Object.fromEntries(kept);
}

function isHarmlessName(name: string): boolean {
  if (harmlessNames.has(name)) return true;
  if (isCredentialName(name)) return false;
  harmlessNames.add(name);
  return true;
}

function cleanEntry(key: string, text: string, what: string, cuts: string[]): [string, string] {
  const name = cleanText(key, EVENT_LIMITS.keyCharacters);
  const clean = cleanText(text, EVENT_LIMITS.valueCharacters);
  if (isCut(text, clean, EVENT_LIMITS.valueCharacters)) cuts.push(`the ${what} ${name} is cut`);
  return [name, clean];
}

/**
 * Cut before it is cleaned, so that the work has a bound, and to the bound itself after that. A cut text has `max`
 * characters, or an ellipsis at its end if the credentials removed from it made it shorter: a command accepts neither.
 */
function cleanText(text: string, max: number): string {
  if (text.length <= max && cleanTexts.has(text)) return text;
  const read = text.length > max + LOOKAHEAD_CHARACTERS ? text.slice(0, max + LOOKAHEAD_CHARACTERS) : text;
  const clean = withoutCredentials(read.replaceAll('\0', '\ufffd'), read.length < text.length);
  const cut = cutTo(read.length < text.length && clean.length < max ? `${clean}…` : clean, max);
  if (cut === text) cleanTexts.add(text);
  return cut;
}

function isCut(text: string, clean: string, max: number): boolean {
  return text.length > max && (clean.length === max || text.length > max + LOOKAHEAD_CHARACTERS);
}

function cutTo(text: string, max: number): string {
  return (text.length > max ? text.slice(0, max) : text).toWellFormed();
}
