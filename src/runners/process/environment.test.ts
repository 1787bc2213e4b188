import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { isRefusedVariable } from '../../domain/secrets/variable.ts';
import { childEnvironment } from './environment.ts';
import { needs } from '../../../test/support/tools.ts';

const HOSTILE = [
  'TF_CLI_ARGS',
  'TF_CLI_ARGS_plan',
  'TF_CLI_ARGS_apply',
  'TF_VAR_region',
  'TF_PLUGIN_CACHE_DIR',
  'TF_REATTACH_PROVIDERS',
  'TF_LOG',
  'TF_DATA_DIR',
  'TF_WORKSPACE',
  'ANSIBLE_CONFIG',
  'ANSIBLE_LIBRARY',
  'ANSIBLE_CALLBACK_PLUGINS',
  'ANSIBLE_VAULT_PASSWORD_FILE',
  'GIT_SSH_COMMAND',
  'GIT_EXTERNAL_DIFF',
  'GIT_CONFIG_GLOBAL',
  'GIT_DIR',
  'LD_PRELOAD_X',
  'LD_LIBRARY_PATH',
  'LD_AUDIT_X',
  'NODE_EXTRA_CA_CERTS',
  'NODE_PATH',
  'PYTHONPATH',
  'PYTHONSTARTUP',
  'PERL5LIB',
  'RUBYOPT',
  'BASH_ENV',
  'ENV',
  'SSH_AUTH_SOCK',
  'SSH_ASKPASS',
  'HTTP_PROXY',
  'https_proxy',
  'ALL_PROXY',
  'NO_PROXY',
  'AWS_SECRET_ACCESS_KEY',
  'DATABASE_URL',
  'SVC_TOKEN',
  'SVC_REMOTE',
  'XDG_CONFIG_HOME',
  'EDITOR',
  'MAIL',
  'JAVA_TOOL_OPTIONS',
];
const ALLOWED = ['HOME', 'LANG', 'LOGNAME', 'PATH', 'PWD', 'SVC_JOB_ID', 'TERM', 'TMPDIR', 'USER'];

/** A module of the project, as a script imports it. */
function source(path: string): string {
  return JSON.stringify(join(import.meta.dirname, path));
}

describe('the environment of a job', () => {
  it('is built from nothing: exactly the listed names, with the run directory as every home', () => {
    const environment = childEnvironment({ jobId: 'job_1', runDir: '/data/runs/job_1' });
    assert.deepEqual(Object.keys(environment).toSorted(), ALLOWED);
    assert.deepEqual(
      [environment['HOME'], environment['TMPDIR'], environment['PWD']],
      Array.from({ length: 3 }, () => '/data/runs/job_1'),
    );
    assert.equal(environment['SVC_JOB_ID'], 'job_1');
  });

  it('takes path and language as they are configured, and what the kind of job adds', () => {
    const environment = childEnvironment({
      jobId: 'j',
      runDir: '/r',
      path: '/opt/bin',
      lang: 'de_DE.UTF-8',
      extra: { TF_VAR_region: 'eu', SVC_LABEL_A: 'b', SVC_EVENT_FILE: '/r/event.json' },
    });
    assert.deepEqual(
      [environment['PATH'], environment['LANG'], environment['TF_VAR_region'], environment['SVC_LABEL_A']],
      ['/opt/bin', 'de_DE.UTF-8', 'eu', 'b'],
    );
  });

  it('refuses an addition that is no name, that would replace one of the service, or that holds a NUL', () => {
    for (const extra of [
      { HOME: '/' },
      { SVC_JOB_ID: 'x' },
      { SVC_X: 'x' },
      { SVC_TOKEN: 'x' },
      { SVC_LABEL_a: 'x' },
      { 'A=B': 'x' },
      { '': 'x' },
      { 'A B': 'x' },
      { A: 'x\0LD_PRELOAD=y' },
    ]) {
      assert.throws(() => childEnvironment({ jobId: 'j', runDir: '/r', extra }), JSON.stringify(extra));
    }
  });

  it('T18: refuses every name by which a loader, a shell or an interpreter is made to run code', () => {
    for (const name of [
      'LD_PRELOAD',
      'LD_AUDIT',
      'DYLD_INSERT_LIBRARIES',
      'NODE_OPTIONS',
      'PYTHONPATH',
      'PERL5OPT',
      'RUBYOPT',
      'BASH_ENV',
      'ENV',
      'IFS',
      'GCONV_PATH',
      'JAVA_TOOL_OPTIONS',
    ]) {
      assert.equal(isRefusedVariable(name), true, name);
      assert.throws(() => childEnvironment({ jobId: 'j', runDir: '/r', extra: { [name]: 'x' } }), name);
    }
    for (const name of ['TF_VAR_x', 'ANSIBLE_CONFIG', 'API_TOKEN', 'ENVIRONMENT', 'OLD_ENV'])
      assert.equal(isRefusedVariable(name), false, name);
  });

  it('T18: holds nothing of what the daemon was started with', { skip: needs('Linux', 'Landlock ABI 4') }, async () => {
    const runDir = mkdtempSync(join(tmpdir(), 'gatehouse-environment-'));
    const daemon = `
      import { createLauncher } from ${source('../launch/launch.ts')};
      import { childEnvironment } from ${source('environment.ts')};
      const launcher = createLauncher();
      for (const policy of [{ readable: [], writable: ['${runDir}'], connectPorts: [] }, null]) {
        const env = childEnvironment({ jobId: 'job_1', runDir: '${runDir}' });
        const job = await launcher.launch({ argv: ['env', '-0'], env, cwd: '${runDir}', policy });
        job.stdout.on('data', (d) => process.stdout.write(d));
        await job.started;
        await job.exited;
      }`;
    assert.ok(HOSTILE.length >= 40);
    const child = spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', daemon], {
      env: {
        ...Object.fromEntries(HOSTILE.map((name) => [name, 'canary'])),
        NODE_OPTIONS: '--no-deprecation',
        LD_PRELOAD: '',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    for await (const chunk of child.stdout) output += String(chunk);
    rmSync(runDir, { recursive: true });
    const names = output
      .split('\0')
      .filter((line) => line !== '')
      .map((line) => line.slice(0, line.indexOf('=')));
    assert.deepEqual(names.toSorted(), [...ALLOWED, ...ALLOWED].toSorted());
    assert.doesNotMatch(output, /canary/);
  });
});
