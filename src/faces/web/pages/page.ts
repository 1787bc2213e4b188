import type { Scope } from '../../../domain/access/scope.ts';
import type { Html } from '../../html/html.ts';

/** A page of the console, for a signed-in user. */
export interface Page {
  /** Below the base path. */
  readonly path: string;
  readonly title: string;
  /** Any one of them opens it. */
  readonly scopes: readonly Scope[];
  readonly content: (facts: PageFacts) => Html;
}

export interface PageFacts {
  readonly basePath: string;
  readonly version: string;
  readonly visitor: Visitor;
}

interface Visitor {
  readonly name: string;
  readonly scope: string;
  /** What the forms of a session carry; null for a bearer token, which has nothing to sign out of. */
  readonly csrf: string | null;
}
