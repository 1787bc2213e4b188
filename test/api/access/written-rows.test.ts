/** A person who can write the database but has no key is not let in: rows of credentials that were made there. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { describe, test } from 'node:test';
import type { Scope } from '../../../src/domain/access/scope.ts';
import { formatToken, newSecret } from '../../../src/domain/access/token.ts';
import { newId } from '../../../src/lib/id.ts';
import { randomBytes } from '../../../src/lib/random.ts';
import { proofOf } from '../../../src/operations/approvals/decision-page.ts';
import { insertToken } from '../../../src/store/access/tokens.ts';
import { linkHash } from '../../../src/store/approvals/decision-links.ts';
import { webhookHash } from '../../../src/store/events/webhooks.ts';
import type { Db, TokenRow } from '../../../src/store/schema/schema.ts';
import { ask, assertPending, openDecisionFixture, tap } from '../../support/fixtures/decisions.ts';
import { openHookFixture, tell } from '../../support/fixtures/hooks.ts';
import { type Program, startProgram } from '../../support/program.ts';

async function write(program: Program, change: (db: Db) => Promise<unknown>): Promise<void> {
  await program.store.write(async (tx) => void (await change(tx.db)));
}

async function whoami(program: Program, headers: Readonly<Record<string, string>>): Promise<number> {
  const response = await fetch(`${program.url}/api/v1/whoami`, { headers });
  await response.arrayBuffer();
  return response.status;
}

function bearer(program: Program, text: string): Promise<number> {
  return whoami(program, { authorization: `Bearer ${text}` });
}

/** Gives a new token the salt and the hash of another, so that the secret of that one opens it. */
async function copyOf(program: Program, text: string): Promise<string> {
  const [id, from] = [newId('tok', Date.now()), `tok_${text.split('_')[1]}`];
  const own = {
    salt: randomBytes(16),
    hash: randomBytes(40),
    version: 1,
    expires_at: null,
    revoked_at: null,
    agent: null,
  };
  const row = { id, name: 'copy', owner: 'copy', scope: 'approve' as const, ...own };
  await program.store.write((tx) => insertToken(tx, { ...row, created_at: tx.now }));
  await write(program, async (db) => {
    const rows = db.selectFrom('tokens').select(['salt', 'hash']).where('id', '=', from);
    await db
      .updateTable('tokens')
      .set(await rows.executeTakeFirstOrThrow())
      .where('id', '=', id)
      .execute();
  });
  return formatToken(id, text.slice(-43));
}

/** What the store knows a session by. */
function id(text: string): string {
  return hash('sha256', text.replace('svc_session=', ''));
}

/** As of an installation whose earlier rows have their tags. */
async function adopted(t: Parameters<typeof startProgram>[0], postgres: boolean): Promise<Program> {
  const program = await startProgram(t, { postgres });
  program.store.adoption.end();
  return program;
}

for (const postgres of [false, true]) {
  describe(`T80: credentials that somebody wrote, on ${postgres ? 'PostgreSQL' : 'SQLite'}`, () => {
    test('T80: a session that was made or changed in the database lets no one in', async (t) => {
      const program = await adopted(t, postgres);
      const honest = await program.session(program.tokens.approve);
      const later = await program.session(program.tokens.approve);
      const made = newSecret();
      await write(program, async (db) => {
        const { token_id } = await db
          .selectFrom('sessions')
          .select('token_id')
          .where('id', '=', id(honest))
          .executeTakeFirstOrThrow();
        const forged = { id: id(made), token_id, csrf: 'c', created_at: 1, expires_at: 9_999_999_999_999 };
        const tag = { order_tag: null, order_key_id: null };
        await db
          .insertInto('sessions')
          .values({ ...forged, ...tag })
          .execute();
        await db.updateTable('sessions').set({ expires_at: 9_999_999_999_999 }).where('id', '=', id(later)).execute();
      });
      assert.equal(await whoami(program, { cookie: honest }), 200);
      assert.equal(await whoami(program, { cookie: `svc_session=${made}` }), 401);
      assert.equal(await whoami(program, { cookie: later }), 401);
    });

    test('T80: a token that was changed in the database is unknown, and its owner has no link', async (t) => {
      const fixture = await openDecisionFixture(t, { postgres });
      const { program } = fixture;
      program.store.adoption.end();
      const tokenOf = (owner: string, scope: Scope = 'approve') => program.token(scope, { owner });
      // Each is remembered as verified before its row is changed.
      const known = async (owner: string, scope?: Scope, expiresAt?: number): Promise<string> => {
        const text = await program.token(scope ?? 'approve', { owner, ...(expiresAt ? { expiresAt } : {}) });
        if (expiresAt === undefined) assert.equal(await bearer(program, text), 200);
        return text;
      };
      const raised = await known('raised', 'readonly');
      const renamed = await known('renamed');
      const [over, revoked, other] = [await known('over', 'approve', 1), await tokenOf('back'), await tokenOf('other')];
      const copied = await copyOf(program, other);
      await program.revoke(revoked);
      const session = await program.session(await tokenOf('sal'));
      await write(program, async (db) => {
        const set = (owner: string, change: Partial<TokenRow>) =>
          db.updateTable('tokens').set(change).where('owner', '=', owner).execute();
        await set('raised', { scope: 'approve' });
        await set('over', { expires_at: null });
        await set('back', { revoked_at: null });
        await set('renamed', { owner: 'bo' });
        await set('sal', { name: 'another' });
      });
      for (const text of [raised, renamed, over, revoked, copied]) assert.equal(await bearer(program, text), 401);
      assert.equal(await whoami(program, { cookie: session }), 401);
      const gated = await fixture.gate();
      for (const owner of ['raised', 'over', 'back', 'sal'])
        await assert.rejects(fixture.links(gated.approvalId, owner), { code: 'forbidden' });
    });

    test('T80: a decision link that was made or changed in the database decides nothing', async (t) => {
      const fixture = await openDecisionFixture(t, { postgres });
      fixture.program.store.adoption.end();
      const gated = await fixture.gate();
      const made = newSecret();
      const url = (decision: string, token: string): string =>
        `${fixture.url}/approval/${gated.approvalId}/${decision}?token=${token}`;
      const turned = new URL((await fixture.links(gated.approvalId, 'bo')).reject).searchParams.get('token') ?? '';
      await write(fixture.program, async (db) => {
        const links = db.selectFrom('decision_links').selectAll().where('decision', '=', 'approve');
        const row = { ...(await links.executeTakeFirstOrThrow()), hash: linkHash(made), recipient: 'ana' };
        await db
          .insertInto('decision_links')
          .values([
            { ...row, one_tap: 1 as const },
            { ...row, hash: linkHash(`${made}2`), one_tap: 1 as const, order_tag: null, order_key_id: null },
          ])
          .execute();
        await db
          .updateTable('decision_links')
          .set({ decision: 'approve' })
          .where('hash', '=', linkHash(turned))
          .execute();
      });
      const unknown = await ask(url('approve', newSecret()), 'GET');
      for (const token of [made, `${made}2`, turned]) {
        const visit = await ask(url('approve', token), 'GET');
        assert.deepEqual([visit.status, visit.text], [unknown.status, unknown.text]);
        const seen = proofOf(token);
        assert.equal((await ask(url('approve', token), 'POST', new URLSearchParams({ seen }).toString())).status, 404);
        assert.equal((await tap(url('approve', token))).status, 404);
      }
      await assertPending(fixture, gated);
      const honest = await fixture.links(gated.approvalId);
      assert.equal((await ask(honest.approve, 'POST')).status, 200);
    });

    test('T80: a webhook that was made in the database, or no longer wants signatures, takes no message', async (t) => {
      const fixture = await openHookFixture(t, { postgres });
      fixture.program.store.adoption.end();
      const honest = await fixture.hook('generic', 'honest');
      const signed = await fixture.call<{ url: string }>('webhook.add', {
        name: 'signed',
        source: 'generic',
        signed: true,
      });
      const made = newSecret();
      const forged = { name: 'made', source: 'generic', hash: webhookHash(made), created_at: 1 } as const;
      const unset = { last_heard_at: null, order_tag: null, order_key_id: null };
      // The message of an honest sender, before: a webhook that is known may be remembered.
      assert.equal((await tell(signed.url, '{"name":"x"}')).status, 401);
      await write(fixture.program, async (db) => {
        await db
          .insertInto('webhooks')
          .values({ ...forged, ...unset })
          .execute();
        await db.updateTable('webhooks').set({ signed: 0 }).where('name', '=', 'signed').execute();
      });
      for (const url of [`${fixture.url}/hook/${made}`, signed.url])
        assert.equal((await tell(url, '{"name":"x"}')).status, 404);
      assert.deepEqual(await fixture.events(), []);
      assert.equal((await tell(honest, '{"name":"x"}')).status, 202);
    });
  });
}
