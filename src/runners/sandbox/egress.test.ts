import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { egressOf, type EgressFacts } from './egress.ts';
import type { SandboxPolicy } from './policy.ts';

const ENFORCED: EgressFacts = { abi: 4, isOtherAccount: false, allowUnfilteredEgress: false };
const OLDER: EgressFacts = { abi: 3, isOtherAccount: true, allowUnfilteredEgress: false };

const policy = (more: Partial<SandboxPolicy>): SandboxPolicy => ({
  readable: [],
  writable: [],
  connectPorts: [22],
  ...more,
});

/** The ports, or the first words of the refusal. */
function result(more: Partial<SandboxPolicy>, facts: EgressFacts): unknown {
  const egress = egressOf(policy(more), facts);
  return egress.refusal === null ? egress.connectPorts : 'refused';
}

describe('the network of a sandboxed program', () => {
  it('is that of its policy where the kernel limits TCP to ports, whatever the account', () => {
    for (const abi of [4, 5, 6, 7, 8, 9])
      for (const isOtherAccount of [true, false])
        for (const connectPorts of [[22], [], 'any', 'none'] as const)
          for (const unfiltered of ['refused', 'offline', 'any'] as const)
            assert.deepEqual(egressOf(policy({ connectPorts, unfiltered }), { ...ENFORCED, abi, isOtherAccount }), {
              refusal: null,
              connectPorts,
              note: null,
            });
  });

  it('T34: is refused on an older kernel where the program would have the account of the service', () => {
    for (const abi of [1, 2, 3])
      for (const allowUnfilteredEgress of [true, false])
        for (const connectPorts of [[22], [], 'any', 'none'] as const)
          for (const unfiltered of ['refused', 'offline', 'any'] as const)
            assert.equal(
              result({ connectPorts, unfiltered }, { abi, isOtherAccount: false, allowUnfilteredEgress }),
              'refused',
            );
    const { refusal } = egressOf(policy({}), { ...OLDER, isOtherAccount: false });
    assert.match(
      refusal ?? '',
      /Linux 6\.7.*another account.*start svc serve as root.*or with --job-user and CAP_SETUID/,
    );
  });

  it('is any port on an older kernel for a program that may reach any, and none for one that needs none', () => {
    assert.equal(result({ connectPorts: 'any' }, OLDER), 'any');
    assert.equal(result({ connectPorts: 'none' }, OLDER), 'none');
    assert.equal(result({ unfiltered: 'any' }, OLDER), 'any');
  });

  it('T34: is refused on an older kernel for a program that needs the limit, unless the operator does without', () => {
    assert.equal(result({}, OLDER), 'refused', 'a program that says nothing');
    assert.equal(result({ unfiltered: 'refused' }, OLDER), 'refused');
    assert.match(egressOf(policy({}), OLDER).refusal ?? '', /Linux 6\.7.*--allow-unfiltered-egress/);
    const allowed = egressOf(policy({}), { ...OLDER, allowUnfilteredEgress: true });
    assert.deepEqual([allowed.refusal, 'connectPorts' in allowed && allowed.connectPorts], [null, 'any']);
    assert.match('note' in allowed ? (allowed.note ?? '') : '', /reaches every port \(--allow-unfiltered-egress\)/);
  });

  it('on an older kernel leaves a program offline that no port was given on request, also with the flag', () => {
    for (const allowUnfilteredEgress of [true, false]) {
      const egress = egressOf(policy({ unfiltered: 'offline' }), { ...OLDER, allowUnfilteredEgress });
      assert.deepEqual([egress.refusal, 'connectPorts' in egress && egress.connectPorts], [null, 'none']);
      assert.match('note' in egress ? (egress.note ?? '') : '', /no internet sockets.*no name resolution/);
    }
  });

  it('is left to the operator on an older kernel for a program that needs the account of the service', () => {
    const ssh = { needsOwnAccount: true };
    const facts = { ...OLDER, isOtherAccount: false };
    assert.equal(result(ssh, facts), 'refused');
    assert.equal(result(ssh, { ...facts, allowUnfilteredEgress: true }), 'any');
    assert.equal(result({ ...ssh, connectPorts: 'none' }, facts), 'none');
  });
});
