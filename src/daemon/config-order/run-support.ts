import { configKind } from '../../domain/config-order/kind.ts';
import { configRunner } from '../../runners/config-order/apply.ts';
import { readConfigOrder } from '../../store/configuration/orders.ts';
import { NO_RESULT, NOTHING_PREPARED, runKind } from '../jobs/run-support.ts';

export const CONFIG_RUN = runKind(configKind, configRunner, {
  mayBeRefused: true,
  async prepare({ store, services }, job, spec) {
    const { file, changes } = await readConfigOrder(store.db, job.id, spec);
    const [{ prepareOrdered }, { loadOperation, loadSections }] = await Promise.all([
      import('../../operations/configuration/ordered.ts'),
      import('../../operations/areas.ts'),
    ]);
    const ordered = { jobId: job.id, file, spec, sections: await loadSections(), load: loadOperation };
    const apply = await prepareOrdered({ store, services }, ordered);
    return {
      ...NOTHING_PREPARED,
      materials: changes,
      finish: ({ result }) => Promise.resolve(result === undefined ? NO_RESULT : apply),
    };
  },
});
