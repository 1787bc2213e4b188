import type { Bounds } from '../runners/bounds/bounds.ts';
import { createLauncher, type Launcher } from '../runners/launch/launch.ts';

/** What the kernel can enforce. The bounds of jobs are those of a daemon; other programs have none. */
export async function sandboxSupport(
  launcher: Launcher = createLauncher(),
  bounds: Pick<Bounds, 'detail'> | null = null,
): Promise<{ ok: boolean; detail: string }> {
  const { ok, detail } = await launcher.supported();
  return { ok, detail: bounds === null ? detail : `${detail}; ${bounds.detail}` };
}
