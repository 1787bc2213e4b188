import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isWithin } from './within.ts';

test('A path is within itself, its folders and the root, and not within one that only begins like it', () => {
  for (const outer of ['/srv/net', '/srv/net/', '/srv', '/']) assert.equal(isWithin('/srv/net', outer), true, outer);
  for (const outer of ['/srv/net/a', '/srv/ne', '/srv/network', '/srv/net2'])
    assert.equal(isWithin('/srv/net', outer), false, outer);
});
