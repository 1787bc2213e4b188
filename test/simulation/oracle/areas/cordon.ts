import { differs, OPERATOR, type OperationRule, type OracleArea } from '../rule.ts';

/** `isOn`: it sets the cordon, else it lifts it. One of a single daemon is looked at by its answer alone. */
function cordon(isOn: boolean): OperationRule {
  return {
    scopes: OPERATOR,
    allows: (model, { raw: { node } }) => (node === undefined || model.hasNode(node) ? ['ok'] : ['not_found']),
    isOf: ({ target }, { raw }) => target === (raw['node'] ?? null),
    apply({ model }, { target }) {
      if (target === null) model.isCordoned = isOn;
      return target === null ? { running: model.running() } : {};
    },
    contradicts(_model, data, effect) {
      const running = effect?.running;
      if (running === undefined) return null;
      const ready = { in_flight: running, safe_to_reboot: isOn && running === 0 };
      return differs(data, { cordoned: isOn, ...ready });
    },
  };
}

export const CORDON: OracleArea = {
  operations: { 'maintenance.cordon': cordon(true), 'maintenance.uncordon': cordon(false) },
};
