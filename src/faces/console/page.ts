import type { Projected, ViewName } from '../../views/views.ts';
import { html, type Html } from '../html/html.ts';
import type { Display } from '../text/display.ts';
import type { Links } from './blocks.ts';

/** The entries of the navigation, in its order. The first page of a section without parameters is its entry. */
export const SECTIONS = [
  'Overview',
  'Approvals',
  'Jobs',
  'Events',
  'Rules',
  'Checks',
  'Quiet',
  'Schedules',
  'Workspaces',
  'Secrets',
  'Backups',
  'System',
] as const;

/** A page of the console, for a signed-in user. What it shows is answered by operations, as on every other face. */
export interface Page {
  /** Below the base path, with `:name` for a parameter. */
  readonly path: `/${string}`;
  readonly section: (typeof SECTIONS)[number];
  /** Of its link in the navigation. */
  readonly title: string;
  /** The page of the section that it is a part of, where its path does not say so. */
  readonly partOf?: string;
  /** The operations that it may ask. The scopes of the first one open it, and "This page elsewhere" names that one. */
  readonly reads: readonly [string, ...string[]];
  /** Whether its query has fields of the first operation. */
  readonly filters?: true;
  /** Throws Failure. */
  readonly show: (request: PageRequest) => Promise<Shown>;
}

export interface Shown {
  /** The sentence that is the heading. */
  readonly title: string;
  /** The state of the thing, beside the heading. */
  readonly state?: Html;
  readonly content: Html;
  /** Below the content: what the script adds to, and does not replace with the rest of the page. */
  readonly log?: Html;
  /** Of the answer, if it is not 200. */
  readonly status?: number;
  /** Whether it is the same as long as the program runs: an open page does not ask for it again. */
  readonly isStill?: true;
  /** Where else it is, in place of the first operation. */
  readonly elsewhere?: string;
}

export interface PageRequest {
  readonly params: Readonly<Record<string, string>>;
  /** Of the URL, not checked. */
  readonly query: URLSearchParams;
  readonly visitor: Visitor;
  readonly display: Display;
  /** The zone of times, beside UTC. */
  readonly timeZone: string;
  /** The URL of a path of the console. */
  readonly url: (path: string) => string;
  /** What the operation answers; throws Failure, and Error for one that the page does not list. */
  readonly ask: <V extends ViewName>(
    operation: string,
    kind: V,
    input?: Readonly<Record<string, unknown>>,
  ) => Promise<Projected<V>>;
  /** An answer as the command line shows it, with links. */
  readonly view: <V extends ViewName>(kind: V, data: Projected<V>, links?: Omit<Links, 'url'>) => Html;
  /** The fields of an operation in the query, with the types of the API. Throws invalid_argument. */
  readonly fields: (operation: string) => Record<string, unknown>;
  /** Whether the scope of the visitor permits an operation. */
  readonly may: (operation: string) => boolean;
  /** A form that posts to an action of the console; empty for a visitor whose scope does not permit it. */
  readonly form: (action: Button) => Html;
}

export interface Visitor {
  readonly name: string;
  /** Whom the token belongs to. */
  readonly owner: string;
  readonly scope: string;
  /** What the forms of a session carry; null for a bearer token, which decides over the API. */
  readonly csrf: string | null;
}

/** The field in which one types the name of what one means, for an action with `confirms`. */
export function typed(label: string): Html {
  return html`<label>${label}<input name="confirm" required autocomplete="off"></label> `;
}

/** One button, with the fields of its form. */
export interface Button {
  /** The path of an action, with the values of its parameters. */
  readonly path: string;
  readonly operation: string;
  readonly label: string;
  readonly look?: 'yes' | 'danger';
  /** Before the button. */
  readonly fields?: Html;
  /** The name and value that the button sends. */
  readonly sends?: readonly [name: string, value: string];
  /** Further buttons of the same form. */
  readonly others?: readonly { readonly label: string; readonly sends: readonly [name: string, value: string] }[];
}
