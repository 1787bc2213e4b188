/** The OpenAPI document: a golden file, and what has to hold of it. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { isNone } from '../../../src/operations/core/http-face.ts';
import { openapiText } from '../../../src/operations/openapi.ts';
import { OPERATIONS } from '../../../src/operations/table.ts';

const GOLDEN = new URL('../../golden/openapi.json', import.meta.url);

interface Described {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, unknown>>;
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
}

// The version changes with each release and says nothing about the shape.
const text = openapiText(OPERATIONS, '0.0.0');
const document = JSON.parse(text) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
};

test('The OpenAPI document is the one that was last agreed to', () => {
  if (process.env['GATEHOUSE_UPDATE_GOLDEN'] === '1') writeFileSync(GOLDEN, text);
  assert.equal(text, readFileSync(GOLDEN, 'utf8'), 'the API changed: look at the difference, then npm run golden');
});

test('Each operation with a route is described once, with its path parameters and all of its statuses', () => {
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, node]) => ({ path, method, node })),
  );
  const rows = OPERATIONS.filter(({ http }) => !isNone(http));
  assert.deepEqual(described.map(({ node }) => node.operationId).toSorted(), rows.map(({ id }) => id).toSorted());
  for (const { path, node } of described) {
    const parameters = (node.parameters ?? []).filter((each) => each.in === 'path').map(({ name }) => name);
    assert.deepEqual(
      parameters,
      [...path.matchAll(/\{([a-z_]+)\}/g)].map((match) => match[1]),
      node.operationId,
    );
    for (const status of ['400', '401', '403', '500', '503'])
      assert.ok(status in node.responses, `${node.operationId} has no ${status}`);
    const kept = rows.some((row) => row.id === node.operationId && 'keep' in row && row.keep);
    assert.equal('304' in node.responses, kept, `${node.operationId} answers 304 only where its answer has an ETag`);
  }
});

test('Every reference leads somewhere', () => {
  const names = [...text.matchAll(/"\$ref": "#\/components\/schemas\/([^"]+)"/g)].map((match) => match[1] ?? '');
  assert.ok(names.length > 0);
  for (const name of new Set(names)) assert.ok(name in document.components.schemas, name);
});
