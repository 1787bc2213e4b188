/**
 * Git in the sandbox of a kernel whose Landlock cannot limit TCP to ports. `npm run kernels` runs these tests on such a
 * kernel.
 */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Objects } from '../../../../test/support/attacks/hostile/objects.ts';
import { HostileServer } from '../../../../test/support/attacks/hostile/server.ts';
import { launchersOfOlderKernel, needsOlderKernel } from '../../../../test/support/kernels/older-kernel.ts';
import { needs } from '../../../../test/support/tools.ts';
import { Failure } from '../../../domain/failure.ts';
import type { Launcher } from '../../launch/launch.ts';
import { fetchGit } from './git.ts';
import type { GitPlace } from './place.ts';

for (const abi of [1, 2, 3]) {
  describe(`git on a kernel with Landlock ABI ${abi}`, { skip: needs('git', 'ssh') || needsOlderKernel(abi) }, () => {
    let base: string;
    let server: HostileServer;
    let url: string;
    let place: GitPlace;
    let launcher: Launcher;
    let permissive: Launcher;
    let count = 0;

    const empty = (): string => {
      const path = join(base, `into-${(count += 1)}`);
      mkdirSync(path);
      return path;
    };
    const refusal = (launch: Launcher, of: string, as: GitPlace | null): Promise<string> =>
      fetchGit({ launcher: launch, url: of, ref: null, into: empty(), place: as, protocols: ['http', 'ssh'] }).then(
        () => assert.fail('it was fetched'),
        (error: unknown) => (error instanceof Failure ? error.message : assert.fail(String(error))),
      );

    before(async () => {
      base = mkdtempSync(join(tmpdir(), 'gatehouse-git-older-'));
      chmodSync(base, 0o711);
      place = { account: { uid: 65_534, gid: 65_534 }, folder: empty() };
      chmodSync(place.folder, 0o711);
      server = await new HostileServer().listen();
      const objects = new Objects();
      const blob = objects.blob('fetched\n');
      const tip = objects.commit(objects.tree(['100644', 'f', blob]));
      url = server.serve({ tip, shallow: tip, pack: objects.pack() });
      ({ launcher, permissive } = launchersOfOlderKernel(abi));
    });
    after(() => {
      server.close();
      rmSync(base, { recursive: true });
    });

    it('fetches over http as the account of jobs, also where no file can be moved to another folder', async () => {
      const into = empty();
      const { tree } = await fetchGit({ launcher, url, ref: null, into, place, protocols: ['http'] });
      assert.deepEqual(readdirSync(tree), ['f']);
      assert.equal(readFileSync(join(tree, 'f'), 'utf8'), 'fetched\n');
    });

    it('T34: is refused with the account of the service', async () => {
      for (const using of [launcher, permissive])
        for (const from of [url, 'ssh://git@127.0.0.1:1/x'])
          assert.match(await refusal(using, from, null), /cannot be read in the sandbox\. .*another account/);
    });

    it('T34: is refused over ssh, which needs the account of the service, unless the operator allows it', async () => {
      assert.match(await refusal(launcher, 'ssh://git@127.0.0.1:1/x', place), /--allow-unfiltered-egress/);
      assert.match(await refusal(permissive, 'ssh://git@127.0.0.1:1/x', place), /git fetch failed: .*127\.0\.0\.1/);
    });
  });
}
