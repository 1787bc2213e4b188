import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Failure } from '../../domain/failure.ts';
import { parseRequirements } from './requirements.ts';

const parse = (text: string): Promise<object> => parseRequirements('requirements.yml', text);

test('Requirements are read in the forms of Ansible, and written in the fields of ansible-galaxy', async () => {
  assert.deepEqual(
    await parse(`
collections:
  - community.general
  - { name: acme.tools, version: ">=1.0.0,<2", source: "https://galaxy.example.org/api/" }
  - { name: local.tools, source: "http://127.0.0.1:8080" }
  - { name: "git+https://git.example.org/acme/extra.git", version: v1 }
  - { name: "https://git.example.org/acme/more.git", type: git }
  - https://files.example.org/acme-files-1.0.0.tar.gz
roles:
  - geerlingguy.nginx
  - { src: geerlingguy.redis, version: 1.2.3, name: redis }
  - { src: "https://files.example.org/web.tar.gz", name: web }
  - { src: "https://git.example.org/acme/db.git", scm: git, name: db, version: main }
`),
    {
      collections: [
        { name: 'community.general', type: 'galaxy' },
        { name: 'acme.tools', type: 'galaxy', version: '>=1.0.0,<2', source: 'https://galaxy.example.org/api/' },
        { name: 'local.tools', type: 'galaxy', source: 'http://127.0.0.1:8080' },
        { name: 'https://git.example.org/acme/extra.git', type: 'git', version: 'v1' },
        { name: 'https://git.example.org/acme/more.git', type: 'git' },
        { name: 'https://files.example.org/acme-files-1.0.0.tar.gz', type: 'url' },
      ],
      roles: [
        { src: 'geerlingguy.nginx', name: 'geerlingguy.nginx' },
        { src: 'geerlingguy.redis', name: 'redis', version: '1.2.3' },
        { src: 'https://files.example.org/web.tar.gz', name: 'web' },
        { src: 'https://git.example.org/acme/db.git', name: 'db', scm: 'git', version: 'main' },
      ],
    },
  );
  const roles = [{ src: 'geerlingguy.nginx', name: 'geerlingguy.nginx' }];
  assert.deepEqual(await parse('- geerlingguy.nginx'), { collections: [], roles });
});

const REFUSED: readonly (readonly [string, RegExp])[] = [
  ['collections: [/etc/passwd]', /collections\[0\]\.name \(line 1\): expected namespace\.name, or the https URL/],
  ['collections: [../other]', /expected namespace\.name/],
  ['collections: [./files]', /expected namespace\.name/],
  ['collections: ["file:///etc"]', /expected namespace\.name/],
  ['collections: ["-r/etc/passwd"]', /expected namespace\.name/],
  ['collections: ["--upload-pack=id"]', /expected namespace\.name/],
  ['collections: [{name: a.b, type: dir}]', /type .*expected galaxy/],
  ['collections: [{name: /srv/x, type: dir}]', /type .*expected galaxy, git or url/],
  ['collections: [{name: "--upload-pack=id", type: git}]', /expected an https URL/],
  ['collections: [{name: "git@host:path", type: git}]', /expected an https URL: a job has no key for ssh/],
  ['collections: ["git+file:///srv/repo"]', /expected an https URL/],
  ['collections: ["git+ext::sh -c id"]', /expected an https URL/],
  ['collections: ["https://user:secret@host/x.tar.gz"]', /must not contain credentials/],
  ['collections: ["https://host/a/../b.tar.gz"]', /must not contain \.\./],
  ['collections: ["https://169.254.169.254/latest"]', /this address is not allowed/],
  ['collections: ["http://files.example.org/x.tar.gz"]', /expected https/],
  ['collections: [{name: a.b, source: "http://galaxy.example.org"}]', /source .*expected https/],
  ['collections: [{name: a.b, version: "--pre"}]', /version .*expected a version/],
  ['collections: [{name: "https://host/x.git", type: git, version: "--orphan"}]', /version .*expected the name of/],
  ['collections: [{name: a.b, signatures: [file:///etc]}]', /"signatures" \(line 1\): no such field/],
  ['collections: [ansible.builtin]', /is part of Ansible/],
  ['roles: [{name: ../../x, src: "https://host/x.tar.gz"}]', /roles\[0\]\.name .*expected a name of letters/],
  ['roles: [{name: a..b, src: "https://host/x.tar.gz"}]', /expected no "\.\."/],
  ['roles: [{src: "https://host/x.tar.gz"}]', /name .*required with a URL/],
  ['roles: [{src: /srv/role, name: x}]', /src .*expected namespace\.name/],
  ['roles: [{src: "x,v1,--name", name: x}]', /src .*expected namespace\.name/],
  ['roles: [{src: "https://host/x.git", scm: hg, name: x}]', /scm .*expected git/],
  ['roles: [{include: other.yml}]', /"include" \(line 1\): no such field/],
  ['{{ roles }}', /requirements\.yml: /],
  ['hello', /expected a list, or the fields collections and roles/],
];

test('T14: a requirement that is a path, an option, a credential or another protocol is refused', async () => {
  for (const [text, message] of REFUSED) {
    await assert.rejects(parse(text), (error) => {
      assert.ok(error instanceof Failure, `${text}: ${String(error)}`);
      assert.match(error.message, message, text);
      assert.doesNotMatch(error.message, /secret/);
      return true;
    });
  }
});

test('T97: a file that is made to be expensive is refused, and one with all fields of 200 each is read', async () => {
  for (const text of ['-\n'.repeat(32_000), `[${','.repeat(65_000)}]`, `a: ${'}'.repeat(65_000)}`])
    await assert.rejects(parse(text), /^Failure: requirements\.yml: file: it has too many lines, quotes/);
  const collection =
    '  - name: community.general\n    version: "1.0.0"\n    type: galaxy\n    source: https://a.example\n';
  const role = '  - name: web\n    src: https://git.example.org/web.git\n    scm: git\n    version: main\n';
  const all = await parse(`collections:\n${collection.repeat(200)}roles:\n${role.repeat(200)}`);
  assert.deepEqual(
    Object.values(all).map((list) => (Array.isArray(list) ? list.length : list)),
    [200, 200],
  );
});
