import type { NotifierDeps } from '../../../src/daemon/notify/send.ts';
import { dataDirPaths } from '../../../src/config/data-dir.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { testKeyring } from '../seal.ts';

/** What a notifier asks of its process. */
export const NOTIFIER_SERVICES: NotifierDeps['services'] = {
  clock: systemClock,
  linkOrigin: () => Promise.resolve('http://svc.test'),
  keyring: testKeyring,
  paths: dataDirPaths('/nowhere'),
};
