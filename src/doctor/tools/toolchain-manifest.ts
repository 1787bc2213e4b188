import type { FileHandle } from 'node:fs/promises';
import { LinkInPath, openSettled } from '../../lib/files/open-path.ts';

/** A manifest has a dozen lines; a larger file is not a manifest. */
const MAX_BYTES = 65_536;
const VERSION = /^v?([0-9A-Za-z][0-9A-Za-z.+~_-]{0,63})$/;
/** An image reference as registries take it: `host:port/name:tag@sha256:digest`. It cannot contain credentials. */
const IMAGE_REF = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,400}(@sha256:[0-9a-f]{64})?$/;

/**
 * The file that SVC_TOOLCHAIN_MANIFEST names, made when the image or machine of the service is built:
 *
 *     { "image_ref": "registry.example/gatehouse:1.4", "tools": { "terraform": "1.11.4", "ssh": "9.2p1" } }
 *
 * Both members may be absent. Tools are named after their programs; a version is compared as text, without a leading
 * `v`. Other members are ignored.
 */
export interface ToolchainManifest {
  readonly imageRef: string | null;
  readonly pins: ReadonlyMap<string, string>;
}

/** A manifest that is named but unusable; the message gives the reason without its content. */
export class ManifestError extends Error {}

/** Rejects with ManifestError, or with the system's error. */
export async function readManifest(path: string): Promise<ToolchainManifest> {
  await using file = await opened(path);
  const stats = await file.stat();
  if (!stats.isFile()) throw new ManifestError('it is not a file');
  if (stats.size > MAX_BYTES) throw new ManifestError(`it is larger than ${MAX_BYTES} bytes`);
  return parseManifest(await file.readFile('utf8'));
}

async function opened(path: string): Promise<FileHandle> {
  try {
    return await openSettled(path);
  } catch (error) {
    if (error instanceof LinkInPath)
      throw new ManifestError('its path leads through a symbolic link that another account made or may exchange');
    throw error;
  }
}

/** Throws ManifestError. */
export function parseManifest(text: string): ToolchainManifest {
  const root = asObject(parseJson(text), 'it is not a JSON object');
  const imageRef = root['image_ref'] ?? null;
  if (imageRef !== null && (typeof imageRef !== 'string' || !IMAGE_REF.test(imageRef))) {
    throw new ManifestError('image_ref is not an image reference');
  }
  const pins = new Map<string, string>();
  for (const [tool, version] of Object.entries(asObject(root['tools'] ?? {}, 'tools is not an object'))) {
    const match = typeof version === 'string' ? VERSION.exec(version) : null;
    if (match?.[1] === undefined) throw new ManifestError('tools: expected a version as text for each tool');
    pins.set(tool, match[1]);
  }
  return { imageRef, pins };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ManifestError('it is not JSON');
  }
}

function asObject(value: unknown, otherwise: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ManifestError(otherwise);
  return value as Record<string, unknown>;
}
