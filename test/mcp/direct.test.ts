/** What is answered without the HTTP of the SDK is what the SDK answers. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { putEvents } from '../support/fixtures/events.ts';
import { MODERN, post } from '../support/mcp/rpc.ts';
import { type Program, startProgram } from '../support/program.ts';

const META = { 'io.modelcontextprotocol/protocolVersion': MODERN, 'io.modelcontextprotocol/clientCapabilities': {} };

const MESSAGES: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
  ['tools/list', {}],
  ['tools/list', { cursor: 'x' }],
  ['tools/call', { name: 'event_list', arguments: { limit: 3 } }],
  ['tools/call', { name: 'event_list' }],
  ['tools/call', { name: 'job_get', arguments: { id: 'x' } }],
  ['tools/call', { name: 'no_such', arguments: {} }],
  ['tools/call', { name: 'job_get', arguments: [] }],
  ['tools/call', { name: '' }],
];

/** Two ways to say the same: the second one has no direct route. */
type Pair = (program: Program, method: string, params: Readonly<Record<string, unknown>>) => Promise<readonly string[]>;

const legacy: Pair = async (program, method, params) => {
  const send = async (more: object): Promise<string> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method, params: { ...params, ...more } });
    return (await post(program, program.tokens.readonly, { body })).text;
  };
  return [await send({}), await send({ _meta: { progressToken: 1 } })];
};

const modern: Pair = async (program, method, params) => {
  const send = async (name: string | undefined): Promise<string> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method, params: { ...params, _meta: META } });
    const named = name === undefined ? {} : { 'mcp-name': name };
    const headers = { 'mcp-protocol-version': MODERN, 'mcp-method': method, ...named };
    return (await post(program, program.tokens.readonly, { headers, body })).text;
  };
  const name = params['name'] as string | undefined;
  if (name === undefined) return [await send(undefined), await send('ignored')];
  return [await send(name), await send(`=?base64?${Buffer.from(name).toString('base64')}?=`)];
};

for (const [era, pair] of Object.entries({ legacy, modern }))
  describe(`A message of the ${era} era`, () => {
    for (const [method, params] of MESSAGES)
      test(`${method} ${JSON.stringify(params)} is answered the same by either route`, async (t) => {
        const program = await startProgram(t);
        await putEvents(program.store, [{ name: 'DiskFull' }, { name: 'a "quoted" name' }]);
        const [direct = '', whole = ''] = await pair(program, method, params);
        assert.ok(direct.includes('"id":7'), direct);
        assert.deepEqual(JSON.parse(direct), JSON.parse(whole));
      });
  });
