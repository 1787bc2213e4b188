import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isRefusedRunSecretName, isRefusedVariable } from './variable.ts';

/** Load code, or belong to the service: refused for every job and caller. */
const NEVER = [
  'LD_PRELOAD',
  'LD_LIBRARY_PATH',
  'LD_AUDIT',
  'DYLD_INSERT_LIBRARIES',
  'GLIBC_TUNABLES',
  'GCONV_PATH',
  'NODE_OPTIONS',
  'PYTHONPATH',
  'PYTHONSTARTUP',
  'PERL5OPT',
  'RUBYOPT',
  'JAVA_TOOL_OPTIONS',
  'BASH_ENV',
  'ENV',
  'IFS',
  'SVC_JOB_ID',
  'SVC_TOKEN',
  'SVC_SEAL_KEY_FILE',
];

/** Steer a tool: a kind of job may set them, a caller may not name a secret so. */
const STEERING = [
  'TF_CLI_ARGS',
  'TF_CLI_ARGS_apply',
  'TF_CLI_CONFIG_FILE',
  'TF_PLUGIN_CACHE_DIR',
  'TF_REATTACH_PROVIDERS',
  'TF_DATA_DIR',
  'TF_LOG',
  'TF_LOG_PATH',
  'TF_WORKSPACE',
  'TF_ENCRYPTION',
  'ANSIBLE_CONFIG',
  'ANSIBLE_LIBRARY',
  'GIT_SSH_COMMAND',
  'GIT_CONFIG_COUNT',
  'GIT_DIR',
  'SSH_AUTH_SOCK',
  'SSH_ASKPASS',
  'HTTP_PROXY',
  'https_proxy',
  'ALL_PROXY',
  'no_proxy',
  'PATH',
  'HOME',
  'TMPDIR',
  'TERM',
  'LANG',
  'LC_ALL',
  'SSL_CERT_FILE',
  'SSLKEYLOGFILE',
  'RES_OPTIONS',
  'PYTHONBREAKPOINT',
  'PAGER',
];

const NO_NAMES = ['', '1X', 'A B', 'A=B', 'A-B', '-A', 'A\n', 'A\0', 'Ä', '--help', '$(id)', 'A.B'];

/** What people do name the variables of their secrets; terraform's own variables are often lower-case. */
const FINE = [
  'AWS_SECRET_ACCESS_KEY',
  'VAULT_TOKEN',
  'API_TOKEN',
  'db_password',
  'password',
  'x',
  '_x',
  'TF_VAR_password',
  'TF_TOKEN_app_example_org',
  'GITHUB_TOKEN',
  'GITEA_TOKEN',
  'OLD_ENV',
  'ENVIRONMENT',
  'home_page',
  'path',
  'PROXY_PASSWORD',
  'LANGUAGE_KEY',
  'SSHKEY',
  'svc_user',
];

describe('Names of variables', () => {
  it('T18: the table of refused names has at least 40', () => {
    assert.ok(new Set([...NEVER, ...STEERING]).size >= 40);
  });

  for (const name of NEVER) {
    it(`T18: no job gets ${name}, as a secret or otherwise`, () => {
      assert.equal(isRefusedVariable(name), true);
      assert.equal(isRefusedRunSecretName(name), true);
    });
  }

  for (const name of STEERING) {
    it(`T18: no run secret is named ${name}`, () => assert.equal(isRefusedRunSecretName(name), true));
  }

  it('T18: what is no name of a variable is refused', () => {
    for (const name of NO_NAMES) {
      assert.equal(isRefusedVariable(name), true, JSON.stringify(name));
      assert.equal(isRefusedRunSecretName(name), true, JSON.stringify(name));
    }
  });

  it('an ordinary name is fine for a run secret', () => {
    for (const name of FINE) assert.equal(isRefusedRunSecretName(name), false, name);
  });

  it('a kind of job may set what a caller may not', () => {
    for (const name of ['TF_VAR_x', 'TF_DATA_DIR', 'ANSIBLE_CONFIG', 'GIT_DIR'])
      assert.equal(isRefusedVariable(name), false, name);
  });
});
