/** Messages to `/mcp` as a client of either era writes them, without the SDK. */
import assert from 'node:assert/strict';
import type { Scope } from '../../../src/domain/access/scope.ts';
import type { Program } from '../program.ts';

/** `legacy` is a client of 2025, `modern` one of the revision 2026-07-28. */
export type Era = 'legacy' | 'modern';
export const ERAS: readonly Era[] = ['legacy', 'modern'];

export const MODERN = '2026-07-28';

export interface ToolAnswer {
  readonly isError?: true;
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly structuredContent?: unknown;
}

interface RpcError {
  readonly code: number;
  readonly message: string;
}

export interface RpcAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly id: unknown;
  readonly result: unknown;
  readonly error: RpcError | undefined;
}

export interface Posting {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly method?: string;
}

/** One request to the endpoint, as given. */
export async function post(
  program: Pick<Program, 'url'>,
  token: string,
  { headers, body = '', method = 'POST' }: Posting,
): Promise<RpcAnswer> {
  const response = await fetch(`${program.url}/mcp`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    ...(method === 'POST' ? { body } : {}),
  });
  const text = await response.text();
  const json = (text === '' ? {} : JSON.parse(text)) as { id?: unknown; result?: unknown; error?: RpcError };
  return {
    status: response.status,
    headers: response.headers,
    text,
    id: json.id,
    result: json.result,
    error: json.error,
  };
}

/** One message of JSON-RPC. */
export function rpc(
  program: Pick<Program, 'url'>,
  token: string,
  method: string,
  params: Readonly<Record<string, unknown>> = {},
  { era = 'legacy', id = 1 }: { era?: Era; id?: string | number } = {},
): Promise<RpcAnswer> {
  const modern = era === 'modern';
  const name = typeof params['name'] === 'string' ? { 'mcp-name': params['name'] } : {};
  const headers = modern ? { 'mcp-protocol-version': MODERN, 'mcp-method': method, ...name } : {};
  const full = modern ? { ...params, _meta: META } : params;
  return post(program, token, { headers, body: JSON.stringify({ jsonrpc: '2.0', id, method, params: full }) });
}

const META = {
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
};

/** Calls a tool; fails where the answer is an error of the protocol. */
export async function callTool(
  program: Pick<Program, 'url'>,
  token: string,
  name: string,
  given: Readonly<Record<string, unknown>> = {},
  era: Era = 'legacy',
): Promise<ToolAnswer> {
  const { status, text, result } = await rpc(program, token, 'tools/call', { name, arguments: given }, { era });
  assert.equal(status, 200, text);
  assert.ok(result !== undefined, text);
  return result as ToolAnswer;
}

/** The text of a result, which is the same JSON as its structured content. */
export function textOf({ content, structuredContent }: ToolAnswer): string {
  assert.equal(content.length, 1);
  const text = content[0]?.text ?? '';
  assert.deepEqual(structuredContent, JSON.parse(text));
  return text;
}

/** The code of a refusal, else the kind. */
export function outcomeOf(answer: ToolAnswer): string {
  const { kind, error } = JSON.parse(textOf(answer)) as { kind: string; error?: { code: string } };
  assert.equal(answer.isError === true, error !== undefined);
  return error?.code ?? kind;
}

export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: {
    readonly properties: Readonly<Record<string, unknown>>;
    readonly required?: readonly string[];
  };
  readonly annotations: Readonly<Record<string, boolean>>;
}

export function listTools(program: Program, scope: Scope, era: Era = 'legacy'): Promise<readonly ListedTool[]> {
  return toolsOfToken(program, program.tokens[scope], era);
}

/** As `listTools`, of any token. */
export async function toolsOfToken(
  program: Pick<Program, 'url'>,
  token: string,
  era: Era = 'legacy',
): Promise<readonly ListedTool[]> {
  const { text, result } = await rpc(program, token, 'tools/list', {}, { era });
  assert.ok(result !== undefined, text);
  return (result as { tools: readonly ListedTool[] }).tools;
}
