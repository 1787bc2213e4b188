import type { OneLine } from '../one-line.ts';

/** How much a lock screen shows. Only `full` has buttons. */
export const PUSH_DETAILS = ['full', 'summary', 'terse'] as const;
export type PushDetail = (typeof PUSH_DETAILS)[number];

/** A button. `http` sends a POST to its URL, `view` opens it. */
export interface NotificationAction {
  readonly action: 'http' | 'view';
  readonly label: OneLine;
  readonly url: string;
  readonly method?: 'POST';
  /** Takes the notification away once the request has succeeded. */
  readonly clear?: true;
}

/** What is sent, in the form and with the names that ntfy gives it. */
export interface NotificationMessage {
  /** The same for every try, so that a phone can show a repeat once. */
  readonly id: string;
  readonly title: OneLine;
  /** One line too: senders choose parts of it, and in a mail the buttons are lines. */
  readonly message: OneLine;
  /** 1 to 5; 3 is usual. */
  readonly priority: number;
  readonly tags: readonly string[];
  readonly click: string;
  readonly actions: readonly NotificationAction[];
}

export interface NotificationContext {
  readonly id: string;
  readonly detail: PushDetail;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Where the pages are, without a slash at the end. */
  readonly baseUrl: string;
  /** Which service sends it: the name of its node. */
  readonly node: string;
  /** The capability URLs of this recipient; null if it gets none. */
  readonly links: { readonly approve: string; readonly reject: string } | null;
}

/** The text of a notification before it is made one line. */
export type Words = Omit<NotificationMessage, 'id' | 'title' | 'message' | 'actions'> & {
  readonly title: string;
  readonly message: string;
  readonly actions?: readonly NotificationAction[];
};

/** Notifications that are counted together when many come at once. */
interface Burst<Facts> {
  /** Those with the same key are counted together. */
  readonly key: (facts: Facts) => string;
  /** Summarises those of this kind among `all`, the oldest first; null for a kind that summarises others itself. */
  readonly fold: ((all: readonly AnyFacts[]) => AnyFacts) | null;
}

/** The facts of a notification of any kind. None of them is a value that an operator gave: names and counts only. */
export interface AnyFacts {
  readonly kind: string;
}

/** A kind of notification, see NOTIFICATIONS, where `Facts` is what it is about. */
export interface NotificationRow<Facts> {
  readonly words: (facts: Facts, context: NotificationContext) => Words;
  /** The title that names nothing. */
  readonly terse: (facts: Facts) => string;
  /** The ids of jobs that every level of detail shows; an empty text for none. */
  readonly jobIds: (facts: Facts) => string;
  /** Whether it asks a person to decide, who gets links for it. Its facts are AskedFacts then. */
  readonly asks: boolean;
  /** Null: each one is sent. */
  readonly burst: Burst<Facts> | null;
}

/** For kinds without jobs, requests or bursts. */
export const PLAIN = { jobIds: () => '', asks: false, burst: null } as const;

/** Names that a notification lists at most. */
const NAMES_MAX = 3;
/** Jobs and events that a summary lists: their ids fill a lock screen several times. */
export const LISTED_MAX = 20;

/** Distinct names, one more than a notification lists. */
export function namesIn(all: readonly string[]): string[] {
  return [...new Set(all)].slice(0, NAMES_MAX + 1);
}

export function namesOf(names: readonly string[]): string {
  return `${names.slice(0, NAMES_MAX).join(', ')}${names.length > NAMES_MAX ? ' and others' : ''}`;
}

export function listOf(ids: readonly string[], count: number): string {
  return `${ids.join(', ')}${count > ids.length ? ` and ${count - ids.length} more` : ''}`;
}
