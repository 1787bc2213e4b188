import { examineAuditLedger } from './audit/audit-ledger.ts';
import { examineInvariants } from './audit/invariants.ts';
import { examineBackups } from './backups/backups.ts';
import { examineChecks } from './checks/checks.ts';
import { examineClock } from './maintenance/clock.ts';
import { examineDataDir } from './maintenance/data-dir.ts';
import { examineDiskRoom } from './maintenance/disk-space.ts';
import type { DoctorEntry, DoctorParts, Facts } from './entry.ts';
import { type Check, Examination } from './examination.ts';
import { examineFileAccess } from './tools/file-access.ts';
import { examineGate } from './gate/gate.ts';
import { examineIngress } from './events/ingress.ts';
import { examineJobAccount } from './jobs/job-account.ts';
import { examineListeners } from './maintenance/listeners.ts';
import { examineNotifications } from './notify/notifications.ts';
import { examineOptionalTools } from './tools/optional-tools.ts';
import { examinePrivilegePosture } from './jobs/privilege-posture.ts';
import { examineDaemons } from './maintenance/daemons.ts';
import { examineRetention } from './maintenance/retention.ts';
import { examineRules } from './rules/rules.ts';
import { examineSandbox } from './jobs/sandbox.ts';
import { examineSchedules } from './schedules/schedules.ts';
import { examineSchema } from './maintenance/schema.ts';
import { examineSeal } from './secrets/seal.ts';
import { examineStore } from './maintenance/store.ts';
import { examineWatches } from './deadman/watches.ts';

/** An examination that takes longer than this hangs, and must not block the report. */
const LIMIT_MS = 5_000;
/** Each tool has 5 s; this is longer, so that a hanging tool is named and does not hide the others. */
const TOOLS_LIMIT_MS = 8_000;
/** Each rule takes a millisecond and more to read. */
const RULES_LIMIT_MS = 20_000;
/** The chains are read from their first row (measured: 230,000 rows/s). */
const LEDGER_LIMIT_MS = 60_000;
/** The entries in the order of the report. */
const CHECKS: readonly Check[] = [
  { name: 'data_dir', limitMs: LIMIT_MS, examine: examineDataDir },
  { name: 'store', limitMs: LIMIT_MS, examine: examineStore },
  { name: 'schema', limitMs: LIMIT_MS, examine: examineSchema },
  { name: 'disk_room', limitMs: LIMIT_MS, examine: examineDiskRoom },
  { name: 'clock', limitMs: LIMIT_MS, examine: examineClock },
  { name: 'sandbox', limitMs: LIMIT_MS, examine: examineSandbox },
  { name: 'seal', limitMs: LIMIT_MS, examine: examineSeal },
  { name: 'file_access', limitMs: LIMIT_MS, examine: examineFileAccess },
  { name: 'backups', limitMs: LIMIT_MS, examine: examineBackups },
  { name: 'optional_tools', limitMs: TOOLS_LIMIT_MS, examine: examineOptionalTools, startsPrograms: true },
  { name: 'privilege_posture', limitMs: LIMIT_MS, examine: examinePrivilegePosture },
  { name: 'job_account', limitMs: LIMIT_MS, examine: examineJobAccount },
  { name: 'daemons', limitMs: LIMIT_MS, examine: examineDaemons },
  { name: 'notifications', limitMs: LIMIT_MS, examine: examineNotifications },
  { name: 'schedules', limitMs: LIMIT_MS, examine: examineSchedules },
  { name: 'watches', limitMs: LIMIT_MS, examine: examineWatches },
  { name: 'checks', limitMs: LIMIT_MS, examine: examineChecks },
  { name: 'ingress', limitMs: LIMIT_MS, examine: examineIngress },
  { name: 'rules', limitMs: RULES_LIMIT_MS, examine: examineRules },
  { name: 'audit_ledger', limitMs: LEDGER_LIMIT_MS, examine: examineAuditLedger },
  { name: 'invariants', limitMs: LIMIT_MS, examine: examineInvariants },
  { name: 'gate', limitMs: LIMIT_MS, examine: examineGate },
  { name: 'retention', limitMs: LIMIT_MS, examine: examineRetention },
  { name: 'listeners', limitMs: LIMIT_MS, examine: examineListeners },
];

/**
 * Creates the doctor of this process, which compares the clocks with those of `began`. The result examines each part
 * separately and never rejects: an error is a `fail` of the entry, a timeout an `unknown`. No entry is older than the
 * store, but for those that start programs.
 */
export function createDoctor(
  parts: DoctorParts,
  began: Facts['began'] = { wallMs: parts.clock.now(), monotonicMs: parts.clock.monotonic() },
): () => Promise<readonly DoctorEntry[]> {
  const examinations = CHECKS.map((check) => new Examination(check, { ...parts, began }));
  return () => Promise.all(examinations.map((examination) => examination.entry()));
}
