/** Which netgroup the peer of a message is in. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Peers } from '../../../src/faces/http/peers.ts';
import { type HookFixture, openHookFixture, tell } from '../../support/fixtures/hooks.ts';

async function labels(fixture: HookFixture): Promise<unknown[]> {
  return (await fixture.events()).map(({ labels }) => [labels['peer_ip'], labels['peer_netgroup'], labels['netgroup']]);
}

test('A message has the netgroup of its peer, as the groups are at that moment', async (t) => {
  const fixture = await openHookFixture(t);
  const url = await fixture.hook('generic');
  const send = async (): Promise<void> =>
    assert.equal((await tell(url, { name: 'x', labels: { netgroup: 'dc', peer_netgroup: 'dc' } })).status, 202);
  await send();
  await fixture.call('netgroup.add', { name: 'here', prefixes: '127.0.0.0/8' });
  await send();
  await fixture.call('netgroup.add', { name: 'host', prefixes: '127.0.0.1' });
  await send();
  await fixture.call('netgroup.set', { name: 'here', prefixes: '127.0.0.0/8,!127.0.0.0/30' });
  await send();
  await fixture.call('netgroup.remove', { name: 'here' });
  await send();
  const groups = ['away', 'here', 'host', 'away', 'host'];
  assert.deepEqual(
    await labels(fixture),
    groups.map((group) => ['127.0.0.1', group, group]),
  );
  // Of a peer, not of the thing that the event is about.
  assert.deepEqual(
    (await fixture.events()).map(({ netgroup }) => netgroup),
    groups.map(() => null),
  );
});

test('T11 T41: behind a trusted proxy the client that it names is classified, in every spelling', async (t) => {
  const fixture = await openHookFixture(t, { peers: new Peers(['127.0.0.1']) });
  const url = await fixture.hook('generic');
  await fixture.call('netgroup.add', { name: 'dc-eu', prefixes: '10.0.0.0/8,!10.1.0.0/16,2001:db8::/32' });
  const found = [
    ['10.2.0.1', '10.2.0.1', 'dc-eu'],
    ['10.2.0.1, 10.1.2.3', '10.1.2.3', 'away'],
    ['::ffff:10.2.0.1', '10.2.0.1', 'dc-eu'],
    ['::ffff:a02:1', '10.2.0.1', 'dc-eu'],
    ['[2001:DB8:0:0::7]:443', '2001:db8::7', 'dc-eu'],
    ['010.2.0.1', '127.0.0.1', 'away'],
    ['192.0.2.1', '192.0.2.1', 'away'],
  ] as const;
  for (const [forwarded] of found)
    assert.equal((await tell(url, { name: 'x' }, { headers: { 'x-forwarded-for': forwarded } })).status, 202);
  assert.deepEqual(
    await labels(fixture),
    found.map(([, address, group]) => [address, group, group]),
  );
});

test('A message that cannot be read is recorded with the netgroup of its peer', async (t) => {
  const fixture = await openHookFixture(t);
  const url = await fixture.hook('generic');
  await fixture.call('netgroup.add', { name: 'here', prefixes: '127.0.0.0/8' });
  assert.equal((await tell(url, 'no json')).status, 400);
  assert.deepEqual(await labels(fixture), [['127.0.0.1', 'here', 'here']]);
});

test('An address is classified with the prefix that decides', async (t) => {
  const fixture = await openHookFixture(t);
  await fixture.call('netgroup.add', { name: 'all', prefixes: '10.0.0.0/8,!10.9.0.0/16' });
  await fixture.call('netgroup.add', { name: 'dc', prefixes: '10.1.0.0/16,10.9.0.0/24' });
  const classify = (address: string) => fixture.call('netgroup.classify', { address });
  assert.deepEqual(await classify('::FFFF:10.1.2.3'), {
    address: '10.1.2.3',
    netgroup: 'dc',
    match: { netgroup: 'dc', prefix: '10.1.0.0/16', excluded: false },
  });
  assert.deepEqual(await classify('10.9.0.1'), {
    address: '10.9.0.1',
    netgroup: 'away',
    match: { netgroup: 'all', prefix: '10.9.0.0/16', excluded: true },
  });
  assert.deepEqual(await classify('2001:DB8::1'), { address: '2001:db8::1', netgroup: 'away', match: null });
  for (const address of ['010.1.2.3', 'fe80::1%eth0', '10.1.2.3/32', 'localhost', ''])
    await assert.rejects(classify(address), /^Failure: address: expected an IPv4 or IPv6 address without a zone/);
});
