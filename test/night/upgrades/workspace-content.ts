/** Workspaces of an older build, with their states, saved plans and secrets. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { items } from '../../support/infrastructure.ts';
import { TERRAFORM } from '../../support/tools.ts';
import type { Check, Content } from './content.ts';
import { approve } from './event-content.ts';
import { folderOf, type Session } from './place.ts';

const INFRASTRUCTURE = 10;

export const WORKSPACE_CONTENT: readonly Content[] = [
  { name: 'a plan of an earlier state changes nothing', since: INFRASTRUCTURE, needs: TERRAFORM, make: makeState },
  { name: 'a saved plan waits, is approved and applied', since: INFRASTRUCTURE, needs: TERRAFORM, make: makeGatedPlan },
  { name: 'a secret opens', since: INFRASTRUCTURE, needs: TERRAFORM, make: makeSecret },
];

interface PlanJob {
  readonly id: string;
  readonly plan_artifact_id: string;
}

async function addWorkspace(session: Session, name: string, text: string): Promise<(text: string) => void> {
  const dir = folderOf(session.place, `root-${name}`);
  const write = (changed: string): void => writeFileSync(join(dir, 'main.tf'), changed, { mode: 0o644 });
  write(text);
  await session.verb(['workspace', 'add', name, '--dir', dir]);
  return write;
}

async function makeState(old: Session): Promise<Check> {
  await addWorkspace(old, 'kept', items(2));
  const plan = await old.verb<PlanJob>(['workspace', 'plan', 'kept', '--wait']);
  await old.verb(['workspace', 'apply', 'kept', '--plan', plan.plan_artifact_id, '--wait']);
  return async (now) => void (await now.verb(['workspace', 'plan', 'kept', '--detailed-exitcode', '--wait']));
}

async function makeGatedPlan(old: Session): Promise<Check> {
  const write = await addWorkspace(old, 'shrinks', items(2));
  await old.verb(['workspace', 'apply', 'shrinks', '--wait']);
  write(items(1));
  const plan = await old.verb<PlanJob>(['workspace', 'plan', 'shrinks', '--wait']);
  await old.verb(['workspace', 'apply', 'shrinks', '--plan', plan.plan_artifact_id]);
  const approval = (await approvals(old)).find(({ workspace }) => workspace === 'shrinks');
  assert.ok(approval, 'the apply waits for an approval');
  return async (now) => {
    const seen = await now.approver.get<{ destroys: unknown[] }>(`/approvals/${approval.id}/plan`);
    assert.equal(seen.status, 200, seen.text);
    await approve(now, approval.id);
    const { data } = await now.operator.get<{ job_id: string }>(`/approvals/${approval.id}`);
    assert.equal((await now.operator.waitFor(data.job_id)).state, 'succeeded');
    await now.verb(['workspace', 'plan', 'shrinks', '--detailed-exitcode', '--wait']);
  };
}

async function approvals({ operator }: Session): Promise<{ id: string; workspace: string | null }[]> {
  return (await operator.get<{ id: string; workspace: string | null }[]>('/approvals')).data;
}

/** A plan fails unless the run gets the value that was stored. */
async function makeSecret(old: Session): Promise<Check> {
  const word = 'a word that is kept';
  await old.verb(['secret', 'set', 'upgrade/word'], { input: word });
  const digest = createHash('sha256').update(word).digest('hex');
  const root = [
    'variable "word" {\n  type = string\n  sensitive = true\n}',
    'resource "terraform_data" "checked" {',
    '  lifecycle {\n    precondition {',
    `      condition = sha256(var.word) == "${digest}"`,
    '      error_message = "another word"',
    '    }\n  }\n}\n',
  ];
  await addWorkspace(old, 'secretive', root.join('\n'));
  return async (now) =>
    void (await now.verb(['workspace', 'plan', 'secretive', '--run-secret', 'word=upgrade/word', '--wait']));
}
