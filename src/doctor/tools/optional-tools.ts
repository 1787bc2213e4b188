import { findJobAccount, isRoot, WITHOUT_RIGHTS } from '../../config/job-account.ts';
import type { AccountIds } from '../../domain/jobs/account.ts';
import { formatDuration } from '../../domain/duration.ts';
import { type Facts, type Finding, ok, unknown, warn } from '../entry.ts';
import { plainReason } from '../reason.ts';
import { askTool, type Tool, type ToolAnswer, TOOLS } from './tool-version.ts';
import { ManifestError, readManifest, type ToolchainManifest } from './toolchain-manifest.ts';

const NO_MANIFEST: ToolchainManifest = { imageRef: null, pins: new Map() };

/**
 * The versions of the tools that jobs may need, compared with the manifest that SVC_TOOLCHAIN_MANIFEST names: a
 * deviation is `warn`, no manifest is `unknown`. Tools that are missing or print an unknown version are named and do
 * not change the status.
 */
export async function examineOptionalTools(facts: Facts): Promise<Finding> {
  const { clock, settings, path } = facts;
  const account = await accountOfTools(facts);
  const [answers, manifest] = await Promise.all([
    Promise.all(TOOLS.map(async (tool) => ({ tool, answer: await askTool(tool, { path, account, clock }) }))),
    openManifest(settings.toolchainManifest),
  ]);
  const { imageRef, pins } = manifest.content;
  const lines = answers.map(({ tool, answer }) => describe(tool, answer, pins.get(tool.name)));
  const unasked = [...pins.keys()].filter((name) => !TOOLS.some((tool) => tool.name === name)).length;
  if (unasked > 0) lines.push(`${unasked} ${unasked === 1 ? 'pin' : 'pins'} of tools that are not checked`);
  if (manifest.fault !== null) lines.push(manifest.fault);
  const detail = `${lines.join(', ')}; image-ref: ${imageRef ?? 'not recorded'}`;
  if (settings.toolchainManifest === null) return unknown(detail);
  const offPin = answers.some(({ tool, answer }) => isOffPin(answer, pins.get(tool.name)));
  return offPin || manifest.fault !== null ? warn(detail) : ok(detail);
}

/** That of the jobs where this process may become it: a tool of theirs gets no right that its run would not have. */
async function accountOfTools({ settings, jobIdentity }: Facts): Promise<AccountIds | null> {
  const identity = jobIdentity ?? (await findJobAccount(settings.jobUser ?? null).catch(() => null));
  if (identity === null) return isRoot() ? WITHOUT_RIGHTS : null;
  return identity.account === null ? null : { uid: identity.account.uid, gid: identity.account.gid };
}

/** A manifest that is named but unusable is a fault, because the operator relies on its pins. */
async function openManifest(path: string | null): Promise<{ content: ToolchainManifest; fault: string | null }> {
  if (path === null) return { content: NO_MANIFEST, fault: 'no manifest to compare with' };
  try {
    return { content: await readManifest(path), fault: null };
  } catch (error) {
    const reason = error instanceof ManifestError ? error.message : plainReason(error);
    return { content: NO_MANIFEST, fault: `the manifest cannot be used: ${reason}` };
  }
}

function isOffPin(answer: ToolAnswer, pin: string | undefined): boolean {
  return answer.kind === 'version' && pin !== undefined && answer.version !== pin;
}

function describe({ name }: Tool, answer: ToolAnswer, pin: string | undefined): string {
  const said = isOffPin(answer, pin) ? `${inWords(answer)} OFF PIN` : inWords(answer);
  const pinned = pin === undefined || (answer.kind === 'version' && answer.version === pin) ? '' : ` (pinned ${pin})`;
  return `${name} ${said}${pinned}`;
}

function inWords(answer: ToolAnswer): string {
  if (answer.kind === 'version') return answer.version;
  if (answer.kind === 'silent') return `no answer within ${formatDuration(answer.limitMs)}`;
  return { missing: 'missing', unparseable: 'version not understood', unstartable: 'cannot be started' }[answer.kind];
}
