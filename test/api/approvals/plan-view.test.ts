import assert from 'node:assert/strict';
import { test } from 'node:test';
import { viewOf } from '../../../src/domain/workspaces/plan-view.ts';
import { VIEWS } from '../../../src/views/views.ts';

const MASKS = { after_unknown: { id: true }, before_sensitive: {}, after_sensitive: { pw: true } };

function resource(name: string, actions: readonly string[], before: object | null, after: object | null): object {
  return { address: `x.${name}`, mode: 'managed', type: 'x', name, change: { actions, before, after, ...MASKS } };
}

void test('T56: the kept text of a plan view has the bytes of its projection, so every face shows the same', () => {
  const awkward = { a: '</script>&"\\\n\u2028 ö 😀', b: '\ud800', pw: 'hunter2-secret', n: [1, { z: null }] };
  const resources = [
    resource('c', ['create'], null, awkward),
    resource('u', ['update'], { a: 1 }, awkward),
    resource('d', ['delete'], awkward, null),
  ];
  for (const changes of [resources, []]) {
    const { view } = viewOf(
      { format_version: '1.2', resource_changes: changes },
      { artifactId: 'art_"1"', secrets: [] },
    );
    assert.equal(JSON.stringify(VIEWS['approval.plan'].parse(JSON.parse(view))), view);
  }
});
