import { systemClock } from '../../../src/lib/clock.ts';
import { openStore, type StoreOptions } from '../../../src/store/store.ts';
import { testKeyring } from '../../support/seal.ts';

/** Before every world began. */
const TEMPLATE_MS = Date.UTC(2025, 10, 1);

/** The whole schema, the same whenever it is made. */
export async function makeSchema(location: StoreOptions['location']): Promise<void> {
  const store = await openStore({
    location,
    clock: { ...systemClock, now: () => TEMPLATE_MS },
    daemonId: 'dmn_template',
    keyring: testKeyring,
    schema: 'migrate',
  });
  await store.close();
}
