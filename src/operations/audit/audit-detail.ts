import { fromJson, type Json } from '../../lib/json.ts';
/**
 * What a list of the ledger shows of each operation's detail: ids, states, names and counts. An operation that is not
 * here shows none of it, and neither does a field.
 */
const SHOWN: Readonly<Record<string, readonly string[]>> = {
  'approval.decision': ['decision'],
  'approval.expire': ['job_id', 'job_cancelled'],
  'approval.link': ['recipient'],
  'approval.refused': ['decision'],
  'artifact.seal': ['job_id', 'workspace', 'serial', 'digest', 'verdict', 'destroys', 'changes', 'creates'],
  'backup.create': ['name'],
  'backup.made': ['job_id', 'name', 'size_bytes', 'sha256'],
  'backup.restore': ['interrupted', 'cancelled', 'approvals', 'workflow_runs', 'deliveries'],
  'backup.verify': ['whole'],
  'check.add': ['kind', 'targets'],
  'check.snooze': ['target', 'until'],
  'check.update': ['targets', 'added', 'removed'],
  'clock.correct': ['rows'],
  'command.run': ['inventory', 'privileged', 'writable'],
  'config.apply': ['added', 'changed', 'removed', 'managed'],
  'data_dir.modes': ['entries', 'jobs'],
  'deadman.add': ['webhook', 'every'],
  'deadman.heard': ['webhook'],
  'deadman.silent': ['webhook'],
  'host.request': ['outcome', 'job'],
  'inventory.add': ['hosts', 'groups', 'replace'],
  'inventory.trust': ['hosts', 'fingerprints'],
  'inventory.untrust': ['keys'],
  'job.end': ['state', 'exit_code', 'by'],
  'job.redrive': ['state', 'dry_run', 'jobs'],
  'job.redriven': ['redrive_of', 'ungated'],
  'job.refuse': ['code'],
  'job.rerun': ['rerun_of', 'ungated'],
  'ledger.key': ['seams', 'tagged_jobs', 'adopted'],
  'ledger.seam': ['rows'],
  'mute.add': ['scope_kind'],
  'netgroup.add': ['prefixes', 'excludes'],
  'netgroup.set': ['prefixes', 'excludes'],
  'notify.endpoint.add': ['owner'],
  'playbook.run': ['playbook', 'source', 'inventory', 'check', 'privileged', 'writable'],
  'rule.add': ['action', 'replace', 'enabled', 'privileged', 'writable'],
  'rule.remove': ['ended_silences'],
  'rule.fire': ['event_id', 'rule', 'approval_id', 'ungated'],
  'schedule.add': ['runbook', 'approval', 'replace', 'privileged', 'writable'],
  'schedule.move': ['next_at'],
  'schedule.refuse': ['slot', 'code'],
  'schedule.run': ['slot', 'job_id', 'ungated', 'approval_id'],
  'seal.export': ['to'],
  'seal.rotate': ['added', 'items', 'digest', 'digest_before'],
  'secret.set': ['version'],
  'silence.add': ['rule'],
  'source.add': ['kind', 'plugins'],
  'source.keep': ['device', 'inode', 'owner'],
  'source.sync': ['commit'],
  'source.vendored': ['job_id', 'files', 'bytes', 'collections', 'roles', 'providers'],
  'token.create': ['name', 'scope', 'owner'],
  vendor: ['source'],
  'webhook.add': ['source', 'signed'],
  'workflow.add': ['steps', 'replace'],
  'workflow.cancel': ['workflow'],
  'workflow.end': ['workflow', 'state'],
  'workflow.refuse': ['workflow', 'reason'],
  'workflow.run': ['run_id', 'from', 'resumes'],
  'workflow.step': ['run_id', 'workflow', 'step', 'approval_id', 'ungated'],
  'workspace.add': ['source', 'require_saved_plan', 'protect_destroy'],
  'workspace.apply': ['workspace', 'plan', 'ungated'],
  'workspace.destroy': ['workspace', 'ungated'],
  'workspace.drift': ['workspace'],
  'workspace.export': ['version', 'begins'],
  'workspace.keep': ['device', 'inode', 'owner'],
  'workspace.plan': ['workspace'],
  'workspace.remove': ['force'],
  'workspace.update': ['changed'],
};

/** Longer texts are cut. A name has at most 63 characters, an id 30, a digest 64. */
const TEXT_CHARS_MAX = 200;

type Value = string | number | boolean | null | string[];

/** The shown part of a stored detail. */
export function shownDetail(operation: string, stored: Json<Readonly<Record<string, unknown>>>): Record<string, Value> {
  const fields = Object.hasOwn(SHOWN, operation) ? (SHOWN[operation] ?? []) : [];
  if (fields.length === 0) return {};
  const detail = fromJson(stored);
  return Object.fromEntries(
    fields.flatMap((name): [string, Value][] => {
      const value = shownValue(detail[name]);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function shownValue(value: unknown): Value | undefined {
  if (typeof value === 'string') return value.slice(0, TEXT_CHARS_MAX);
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return value;
  if (!Array.isArray(value)) return undefined;
  return value.filter((each) => typeof each === 'string').map((each) => each.slice(0, TEXT_CHARS_MAX));
}
