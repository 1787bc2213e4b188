import { createLauncher } from '../runners/launch/launch.ts';

/** What the kernel can enforce, without a daemon. */
export async function sandboxSupport(): Promise<{ ok: boolean; detail: string }> {
  const { ok, detail } = await createLauncher().supported();
  return { ok, detail };
}
