/** Someone in a browser without scripts: a session, the pages that it gets and the forms on them. */
import assert from 'node:assert/strict';
import type { Program } from '../program.ts';

interface Shown {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export class Visitor {
  readonly #program: Program;
  readonly #cookie: string;

  constructor(program: Program, cookie: string) {
    this.#program = program;
    this.#cookie = cookie;
  }

  /** `path` is below the base path. */
  async open(path: string): Promise<Shown> {
    return shownBy(await fetch(this.#program.url + path, { headers: { cookie: this.#cookie }, redirect: 'manual' }));
  }

  /** Posts the form of a page whose action is `action`, with its hidden fields; these may be replaced. */
  async submit(page: string, action: string, fields: Readonly<Record<string, string>> = {}): Promise<Shown> {
    const { text } = await this.open(page);
    const form = formsOf(text).find((each) => each.action.endsWith(action));
    assert.ok(form, `${page} has a form for ${action}`);
    return this.post(action, { ...form.hidden, ...fields });
  }

  async post(action: string, fields: Readonly<Record<string, string>>): Promise<Shown> {
    const response = await fetch(this.#program.url + action, {
      method: 'POST',
      headers: { cookie: this.#cookie },
      body: new URLSearchParams(fields),
      redirect: 'manual',
    });
    return shownBy(response);
  }
}

export async function visit(program: Program, token: string): Promise<Visitor> {
  return new Visitor(program, await program.session(token));
}

async function shownBy(response: Response): Promise<Shown> {
  return { status: response.status, headers: response.headers, text: await response.text() };
}

interface Form {
  readonly action: string;
  readonly hidden: Readonly<Record<string, string>>;
}

/** The forms that post, with their hidden fields. */
export function formsOf(text: string): Form[] {
  return [...text.matchAll(/<form method="post" action="([^"]*)">(.*?)<\/form>/gs)].map(
    ([, action = '', inner = '']) => ({
      action,
      hidden: Object.fromEntries(
        [...inner.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)].map(([, name = '', value = '']) => [
          name,
          value,
        ]),
      ),
    }),
  );
}
