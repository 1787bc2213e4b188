import { tcp as realTcp } from '../../../../src/probes/kinds/tcp.ts';
import { theTargets } from '../../network/targets.ts';
import { running } from '../../world/current.ts';

export const tcp: typeof realTcp = async (deps, target, options, signal) => {
  if (running() === null) return realTcp(deps, target, options, signal);
  await theTargets().connect(target);
  return { detail: 'ok' };
};
