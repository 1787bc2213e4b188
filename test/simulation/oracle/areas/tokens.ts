import type { Model, ModelToken } from '../model.ts';
import { differs, OPERATOR, type OperationRule, type OracleArea } from '../rule.ts';

/** The one with this id, or the active one with this name: a name may be of one after the other. */
function activeOf(model: Model, idOrName: unknown): ModelToken | undefined {
  const active = [...model.tokens.values()].filter(({ state }) => state === 'active');
  return active.find(({ id }) => id === idOrName) ?? active.find(({ name }) => name === idOrName);
}

const create: OperationRule = {
  scopes: OPERATOR,
  // One that has expired keeps its name until it is revoked.
  allows: (model, { raw }) =>
    [...model.tokens.values()].some(({ name, state }) => name === raw['name'] && state === 'active')
      ? ['duplicate']
      : ['ok'],
  isOf: ({ detail }, { raw: { name, scope, owner = name } }) => differs(detail, { name, scope, owner }) === null,
  apply({ model, rows, refuse }, { target }, { raw: { name, scope, owner = name, expires } }) {
    const row = rows.tokens.get(target ?? '');
    if (row === undefined) return refuse(`made ${target}, which has no row`) ?? {};
    if (activeOf(model, name) !== undefined) refuse(`made ${row.id}, whose name ${row.name} another one has`);
    const lifeMs = typeof expires === 'string' ? Number.parseInt(expires, 10) * 1_000 : null;
    const wrong = differs(row, { name, scope, owner, lifeMs });
    if (wrong !== null) refuse(`made ${row.id}: ${wrong}`);
    model.tokens.set(row.id, { id: row.id, name: row.name, state: 'active' });
    return { made: row.id };
  },
  contradicts: (_model, data, effect, { raw: { name, scope } }) => differs(data, { id: effect?.made, name, scope }),
  unreached: { conflict: 'needs a strict service' },
};

const revoke: OperationRule = {
  scopes: OPERATOR,
  allows: (model, { raw }) => [activeOf(model, raw['token']) === undefined ? 'not_found' : 'ok'],
  isOf: ({ target }, { raw }, { model }) =>
    target === raw['token'] || model.tokens.get(target ?? '')?.name === raw['token'],
  apply({ model, refuse }, { target }) {
    const token = model.tokens.get(target ?? '');
    if (token?.state !== 'active') return refuse(`of ${target}, which is ${token?.state ?? 'not there'}`) ?? {};
    token.state = 'revoked';
    return { made: token.id };
  },
  contradicts(_model, data, effect) {
    const { revoked_at: at } = data as { revoked_at: unknown };
    return typeof at === 'string' ? differs(data, { id: effect?.made }) : 'it is not revoked';
  },
};

export const TOKENS: OracleArea = { operations: { 'token.create': create, 'token.revoke': revoke } };
