/**
 * A rule of the API as a literal: what is given, who sends what, what comes back, and what must not. Each runs on a
 * separate program. What holds for every answer is checked here and need not be said.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Scope } from '../../src/domain/access/scope.ts';
import { type Program, type ProgramOptions, startProgram } from './program.ts';

export type Identity = Scope | 'nobody' | 'session';

export interface Sending {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE' | 'PATCH' | 'OPTIONS';
  /** Below the base path. `$name` stands for what `given` returned under that name. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; a string or bytes are sent as they are. */
  readonly body?: unknown;
}

export interface Scenario {
  readonly rule: string;
  /** The row of the table that it is about. */
  readonly operation: string;
  readonly program?: ProgramOptions;
  given?(program: Program): Promise<Readonly<Record<string, string>>>;
  readonly as: Identity;
  readonly send: Sending;
  readonly expect: {
    readonly status: number;
    readonly kind?: string;
    /** Members that `data` has to have, at any depth; more may stand beside them. */
    readonly data?: unknown;
    readonly code?: string;
    readonly message?: RegExp;
    readonly headers?: Readonly<Record<string, string | RegExp>>;
    readonly text?: RegExp;
  };
  /** Text that the answer must not contain. `$name` as above. */
  readonly expectNot?: readonly string[];
  /** What has to hold afterwards. */
  afterwards?(program: Program, given: Readonly<Record<string, string>>, body: unknown): Promise<void>;
}

export function titleOf({ operation, rule }: Scenario): string {
  return `${operation}: ${rule}`;
}

export function runScenarios(scenarios: readonly Scenario[]): void {
  for (const scenario of scenarios) {
    test(titleOf(scenario), async (t) => {
      const program = await startProgram(t, scenario.program);
      const given = (await scenario.given?.(program)) ?? {};
      const answer = await send(program, scenario.as, fill(scenario.send, given));
      judge(scenario, answer);
      for (const text of scenario.expectNot ?? []) {
        const whole = `${answer.text}${JSON.stringify([...answer.headers])}`;
        assert.ok(!whole.includes(replaced(text, given)), `the answer holds ${text}`);
      }
      await scenario.afterwards?.(program, given, answer.json);
    });
  }
}

export interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Undefined where the text is no JSON. */
  readonly json: unknown;
}

/** Sends one request and reads all of the answer. */
export async function send(program: Program, as: Identity, sending: Sending): Promise<Received> {
  const { method, path, body } = sending;
  const raw = body === undefined || typeof body === 'string' || body instanceof Uint8Array;
  const headers = {
    ...(await credentials(program, as)),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...sending.headers,
  };
  const init = { method, headers, redirect: 'manual' as const };
  const response = await fetch(
    program.url + path,
    body === undefined ? init : { ...init, body: raw ? body : JSON.stringify(body) },
  );
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: parsed(text) };
}

async function credentials(program: Program, as: Identity): Promise<Record<string, string>> {
  if (as === 'nobody') return {};
  if (as === 'session') return { cookie: await program.session(program.tokens.operator) };
  return { authorization: `Bearer ${program.tokens[as]}` };
}

function judge(scenario: Scenario, { status, headers, text, json }: Received): void {
  const { expect } = scenario;
  assert.equal(status, expect.status, text);
  judgeAlways(headers);
  const envelope = json as
    { kind?: string; data?: unknown; error?: { code: string; message: string; hint: string } } | undefined;
  if (expect.kind !== undefined || expect.code !== undefined) {
    assert.match(text, /^\{"schema_version":1,"kind":"[a-z._]+","(data|error)":.*\}\n$/s);
  }
  if (expect.kind !== undefined) assert.equal(envelope?.kind, expect.kind);
  if (expect.data !== undefined) assert.partialDeepStrictEqual(envelope?.data, expect.data);
  if (expect.code !== undefined) {
    assert.equal(envelope?.kind, 'error');
    assert.deepEqual(Object.keys(envelope?.error ?? {}).slice(0, 3), ['code', 'message', 'hint']);
    assert.equal(envelope?.error?.code, expect.code);
  }
  if (expect.message !== undefined) assert.match(envelope?.error?.message ?? '', expect.message);
  if (expect.text !== undefined) assert.match(text, expect.text);
  for (const [name, value] of Object.entries(expect.headers ?? {})) {
    const got = headers.get(name) ?? '';
    if (typeof value === 'string') assert.equal(got, value, name);
    else assert.match(got, value, name);
  }
  if (status === 401) assert.equal(headers.get('www-authenticate'), 'Bearer');
}

/** What every answer has, and what none has. */
export function judgeAlways(headers: Headers): void {
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  assert.match(headers.get('content-security-policy') ?? '', /^default-src 'none'.*frame-ancestors 'none'$/);
  assert.equal(headers.get('cross-origin-resource-policy'), 'same-origin');
  assert.match(headers.get('cache-control') ?? '', /^no-store$|^private, no-cache$/);
  for (const [name] of headers) assert.ok(!name.startsWith('access-control-'), `the answer has ${name}`);
  assert.equal(headers.get('server'), null);
  assert.equal(headers.get('x-powered-by'), null);
}

function fill(sending: Sending, given: Readonly<Record<string, string>>): Sending {
  return { ...sending, path: replaced(sending.path, given) };
}

function replaced(text: string, given: Readonly<Record<string, string>>): string {
  return text.replaceAll(
    /\$([a-z]+)/gi,
    (_all, name: string) => given[name] ?? assert.fail(`nothing is given under ${name}`),
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
