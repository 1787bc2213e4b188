import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Failure } from '../failure.ts';
import type { PlanAction, PlanEntry, PlannedChanges, Verdict } from './plan.ts';
import { judge, lintPolicy, type Policy } from './policy.ts';

function entries(count: number, action: PlanAction, type = 'aws_subnet'): PlanEntry[] {
  return Array.from({ length: count }, (_, index) => ({
    address: `module.network.${type}.inner[${index}]`,
    type,
    name: 'inner',
    action,
  }));
}

const NOTHING: PlannedChanges = { destroys: [], changes: [], creates: [] };
const CREATES: PlannedChanges = { ...NOTHING, creates: entries(2, 'create') };
const DESTROYS: PlannedChanges = { ...CREATES, destroys: entries(3, 'destroy') };
const REPLACES: PlannedChanges = { ...NOTHING, destroys: entries(1, 'replace') };

/** Passes the definition, fails for a plan that creates one resource. */
const FAILS = 'plan.creates.size() != 2 ? true : plan.creates[7].type == "x"';

interface Row {
  readonly rule: string;
  readonly policy: Partial<Policy>;
  readonly planned: PlannedChanges;
  readonly verdict: Verdict;
  readonly reason: RegExp;
}

const TABLE: readonly Row[] = [
  {
    rule: 'Without a policy, a plan that only creates is clean',
    policy: {},
    planned: CREATES,
    verdict: 'clean',
    reason: /^it destroys and replaces nothing$/,
  },
  {
    rule: 'Without a policy, a plan of nothing is clean',
    policy: {},
    planned: NOTHING,
    verdict: 'clean',
    reason: /nothing/,
  },
  {
    rule: 'Without a policy, a plan that destroys needs approval',
    policy: {},
    planned: DESTROYS,
    verdict: 'require_approval',
    reason: /^it destroys or replaces 3 resources$/,
  },
  {
    rule: 'Without a policy, a plan that replaces needs approval',
    policy: {},
    planned: REPLACES,
    verdict: 'require_approval',
    reason: /^it destroys or replaces 1 resource$/,
  },
  {
    rule: 'approve_when true: approval',
    policy: { approveWhen: 'plan.creates.size() > 1' },
    planned: CREATES,
    verdict: 'require_approval',
    reason: /^approve_when is true$/,
  },
  {
    rule: 'approve_when false: clean, also for a plan that destroys',
    policy: { approveWhen: 'plan.destroys.size() > 5' },
    planned: DESTROYS,
    verdict: 'clean',
    reason: /^approve_when is false$/,
  },
  {
    rule: 'approve_when fails: approval',
    policy: { approveWhen: FAILS },
    planned: CREATES,
    verdict: 'require_approval',
    reason: /approve_when cannot be evaluated.*beyond the end/,
  },
  {
    rule: 'approve_when is refused by now: approval',
    policy: { approveWhen: 'plan.nope' },
    planned: CREATES,
    verdict: 'require_approval',
    reason: /approve_when cannot be evaluated.*"nope"/,
  },
  {
    rule: 'approve_when that hides a constant which fails: what it yields',
    policy: { approveWhen: 'plan.creates.size() < 0 && 1/0 == 1' },
    planned: CREATES,
    verdict: 'clean',
    reason: /^approve_when is false$/,
  },
  {
    rule: 'deny_when true: deny',
    policy: { denyWhen: 'plan.destroys.exists(e, e.type == "aws_subnet")' },
    planned: DESTROYS,
    verdict: 'deny',
    reason: /^deny_when is true$/,
  },
  {
    rule: 'deny_when true and approve_when false: deny',
    policy: { approveWhen: 'false', denyWhen: 'true' },
    planned: CREATES,
    verdict: 'deny',
    reason: /deny_when/,
  },
  {
    rule: 'deny_when fails: deny',
    policy: { denyWhen: FAILS, approveWhen: 'false' },
    planned: CREATES,
    verdict: 'deny',
    reason: /deny_when cannot be evaluated/,
  },
  {
    rule: 'deny_when is refused by now: deny',
    policy: { denyWhen: '(' },
    planned: CREATES,
    verdict: 'deny',
    reason: /deny_when cannot be evaluated/,
  },
  {
    rule: 'deny_when false alone: the default still asks for a plan that destroys',
    policy: { denyWhen: 'false' },
    planned: DESTROYS,
    verdict: 'require_approval',
    reason: /destroys or replaces 3/,
  },
  {
    rule: 'deny_when false alone: clean for a plan that only creates',
    policy: { denyWhen: 'false' },
    planned: CREATES,
    verdict: 'clean',
    reason: /nothing/,
  },
  {
    rule: 'deny_when false and approve_when true: approval',
    policy: { denyWhen: 'false', approveWhen: 'true' },
    planned: CREATES,
    verdict: 'require_approval',
    reason: /approve_when is true/,
  },
];

describe('The policy of a workspace', () => {
  for (const { rule, policy, planned, verdict, reason } of TABLE) {
    it(rule, async () => {
      const judgement = await judge({ approveWhen: null, denyWhen: null, ...policy }, planned);
      assert.equal(judgement.verdict, verdict);
      assert.match(judgement.reason, reason);
    });
  }

  it('sees the action, the type, the name and the address of each entry', async () => {
    const approveWhen =
      'plan.destroys.exists(e, e.action == "replace" && e.type == "aws_subnet" && e.name == "inner" && ' +
      'e.address.endsWith("inner[0]"))';
    assert.equal((await judge({ approveWhen, denyWhen: null }, REPLACES)).verdict, 'require_approval');
    assert.equal((await judge({ approveWhen, denyWhen: null }, DESTROYS)).verdict, 'clean');
  });

  it('judges a plan of 5,000 entries, each seen once', async () => {
    const large = { ...NOTHING, destroys: entries(5_000, 'destroy') };
    const approveWhen =
      'plan.destroys.exists(e, e.type.matches("^(aws_db|aws_s3)_")) || "aws_vpc" in plan.destroys.map(e, e.type)';
    assert.equal((await judge({ approveWhen, denyWhen: null }, large)).verdict, 'clean');
    const last = { ...large, destroys: [...large.destroys, ...entries(1, 'destroy', 'aws_vpc')] };
    assert.equal((await judge({ approveWhen, denyWhen: null }, last)).verdict, 'require_approval');
  });

  it('is refused at its definition with the field, the place and the remedy', async () => {
    for (const field of ['approve_when', 'deny_when'] as const) {
      await assert.rejects(lintPolicy(field, 'plan.destroys.exists(e, e.adress == "x")'), (thrown) => {
        assert.ok(thrown instanceof Failure);
        assert.equal(thrown.code, 'invalid_argument');
        assert.equal(
          thrown.message,
          `${field}: character 26: an entry has no field "adress"; perhaps "address" is meant.`,
        );
        return true;
      });
    }
  });

  it('is refused where it fails with constants alone for the sample plans, unless a term hides it', async () => {
    await assert.rejects(
      lintPolicy('deny_when', 'duration("5 apples") > duration("1h")'),
      /deny_when: for a plan that changes nothing the expression fails: .*a value cannot be converted to a duration\./,
    );
    await assert.doesNotReject(lintPolicy('deny_when', 'plan.creates.size() < 0 && 1/0 == 1'));
  });

  it('is refused where it fails for a plan that changes nothing', async () => {
    await assert.rejects(
      lintPolicy('deny_when', 'plan.destroys[0].type == "x"'),
      /for a plan that changes nothing .* beyond the end of a list/,
    );
  });

  it('is refused where it compares each entry with each other', async () => {
    await assert.rejects(
      lintPolicy('deny_when', 'plan.creates.exists(c, plan.destroys.exists(d, d.address == c.address))'),
      /inside another loop/,
    );
    await assert.rejects(lintPolicy('deny_when', 'plan.creates.exists(c, c in plan.destroys)'), /too many steps/);
  });

  it('is accepted as people write it', async () => {
    for (const text of [
      'true',
      'plan.destroys.size() > 0',
      'size(plan.destroys) + size(plan.changes) > 10',
      'plan.destroys.exists(e, e.type in ["aws_db_instance", "aws_s3_bucket"])',
      'plan.destroys.exists(e, e.type.startsWith("aws_db_") && e.action != "replace")',
      'plan.destroys.exists(e, ["aws_db_", "aws_rds_"].exists(p, e.type.startsWith(p)))',
      '!plan.creates.all(e, e.address.startsWith("module.sandbox."))',
      '(plan.destroys + plan.changes).exists(e, e.address.matches("^module[.]prod([.]|$)"))',
      'plan.changes.filter(e, e.type == "aws_iam_policy").size() > 2',
    ]) {
      await lintPolicy('approve_when', text);
    }
  });
});
