import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';
import type { Keyring } from '../../lib/seal.ts';
import { findPlanView, type KeptPlanView } from '../../store/workspaces/artifacts.ts';
import type { ArtifactRow } from '../../store/schema/schema.ts';
import { openSealed, planViewLabel } from '../../store/secrets/seal.ts';
import type { Runtime } from '../core/invoke.ts';
import type { Services } from '../core/services.ts';

/** The view of a plan as it is kept: compressed, then sealed. */

/** Level 3 takes 14 MB of text to 1 MB in 40 ms. */
const LEVEL = 3;
/** Of a decompressed plan view: some 20 times one of 5,000 resources. What was sealed here is never that long. */
const BYTES_MAX = 256 * 1024 * 1024;

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** What `sealed_view` holds of the JSON text of a view. */
export async function sealPlanView(
  ring: Keyring,
  artifact: Pick<ArtifactRow, 'id' | 'workspace'>,
  text: string,
): Promise<Uint8Array> {
  return ring.seal(
    planViewLabel(artifact),
    await compress(text, { params: { [constants.ZSTD_c_compressionLevel]: LEVEL } }),
  );
}

/**
 * The view of a saved plan as JSON, in UTF-8; null where the plan is not kept any more. Throws conflict for one that
 * was altered or that no key here opens, and what `keyring` throws.
 */
export async function planViewJson({ store, services }: Runtime, artifactId: string): Promise<Buffer | null> {
  const kept = await findPlanView(store.db, artifactId);
  return kept === undefined ? null : openPlanView(services, kept);
}

/** Throws as `planViewJson` does. */
export async function openPlanView(services: Pick<Services, 'keyring'>, kept: KeptPlanView): Promise<Buffer> {
  const packed = openSealed(
    await services.keyring(),
    planViewLabel(kept),
    kept.sealed_view,
    `the plan ${kept.id} cannot be shown`,
    'Do not approve it; run svc doctor.',
  );
  return decompress(packed, { maxOutputLength: BYTES_MAX });
}
