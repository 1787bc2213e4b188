/** What people add by a name, and quiet times, which have an id. */
import type { Model } from '../model.ts';
import { differs, OPERATOR, type OperationRule, type OracleArea } from '../rule.ts';

type Raw = Readonly<Record<string, unknown>>;

/** That of a rule is in its text. */
function nameOf({ name, text }: Raw): string {
  return typeof name === 'string' ? name : (/^name: (.+)$/m.exec(String(text))?.[1] ?? '');
}

function isThere(model: Model, kind: string, name: string): boolean {
  const known = { workflow: model.workflows, rule: model.rules, schedule: model.schedules }[kind];
  return known?.has(name) ?? model.objects.has(`${kind} ${name}`);
}

/** Whether something that it names is not there. */
function isLost(model: Model, { inventory, webhook, rule, text }: Raw): boolean {
  const inventories = [...String(text).matchAll(/inventory: (\w+)/g)].map(([, each]) => each);
  return (
    (typeof webhook === 'string' && !isThere(model, 'webhook', webhook)) ||
    (typeof rule === 'string' && !isThere(model, 'rule', rule)) ||
    [...inventories, inventory].some((each) => typeof each === 'string' && !model.inventories.has(each))
  );
}

/** Nothing is replaced: a name is of one. */
function added(kind: string): OperationRule {
  return {
    scopes: OPERATOR,
    allows(model, { raw }) {
      const refusals = [
        ...(isThere(model, kind, nameOf(raw)) ? ['duplicate'] : []),
        ...(isLost(model, raw) ? ['not_found'] : []),
      ];
      return refusals.length === 0 ? ['ok'] : refusals;
    },
    isOf: ({ target }, { raw }) => target === nameOf(raw),
    apply({ model }, { target }) {
      model.objects.add(`${kind} ${target}`);
      return {};
    },
    contradicts: (_model, data, _effect, { raw }) => differs(data, { name: nameOf(raw) }),
  };
}

/** `kind.add`, which makes an id, and `kind.remove`. `isKept`: it has an end, and is there after it. */
function quietTime(kind: string, isKept: boolean): Readonly<Record<string, OperationRule>> {
  return {
    [`${kind}.add`]: {
      scopes: OPERATOR,
      allows: (model, { raw }) => (isLost(model, raw) ? ['not_found'] : ['ok']),
      isOf: () => true,
      apply({ model }, { target }) {
        model.objects.add(`${kind} ${target}`);
        return { made: target ?? '' };
      },
      contradicts: (_model, data, effect) => differs(data, { id: effect?.made }),
    },
    [`${kind}.remove`]: {
      scopes: OPERATOR,
      allows(model, { raw }) {
        if (!isThere(model, kind, String(raw['id']))) return ['not_found'];
        // Which of them depends on the clock.
        return isKept ? ['ok', 'conflict'] : ['ok'];
      },
      isOf: ({ target }, { raw }) => target === raw['id'],
      apply({ model, refuse }, { target }) {
        if (!isThere(model, kind, target ?? '')) refuse(`of ${target}, which is not there`);
        if (!isKept) model.objects.delete(`${kind} ${target}`);
        return {};
      },
      contradicts: () => null,
    },
  };
}

const NAMED = ['workflow', 'rule', 'schedule', 'webhook', 'deadman'];

export const OBJECTS: OracleArea = {
  operations: {
    ...Object.fromEntries(NAMED.map((kind) => [`${kind}.add`, added(kind)])),
    ...quietTime('mute', false),
    ...quietTime('silence', true),
  },
};
