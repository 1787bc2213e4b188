import type { NotifierDeps } from '../../../src/daemon/notify/send.ts';
import { dataDirPaths } from '../../../src/config/data-dir.ts';
import { testKeyring } from '../seal.ts';

/** What a notifier asks of its process. */
export const NOTIFIER_SERVICES: NotifierDeps['services'] = {
  linkOrigin: () => Promise.resolve('http://svc.test'),
  keyring: testKeyring,
  paths: dataDirPaths('/nowhere'),
};
