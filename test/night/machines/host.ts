/** What a machine takes over from this one: where Debian and npm are fetched from, and through which proxy. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** As apt has them for Debian and its updates. */
const TARGETS = ['indextargets', '--format', '$(ORIGIN) $(LABEL) $(REPO_URI)', 'Created-By: Packages'];
const APT_OPTION = /^(Acquire::https?::(?:Proxy|CAInfo|Verify-Peer)\S*) (".*");$/;
const PROXY_VARIABLES = ['http_proxy', 'https_proxy', 'no_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'];
const NPM_SETTINGS = ['registry', 'proxy', 'https-proxy', 'noproxy'];
/** Where a machine finds the certificates that npm and Node trust here. */
export const CERTIFICATES = '/usr/local/share/certificates.pem';

/** The mirror of Debian that apt uses here; null where it is another system or has no lists. */
export function debianMirror(): string | null {
  const line = lines('apt-get', TARGETS).find((each) => each.startsWith('Debian Debian '));
  return line?.split(' ')[2] ?? null;
}

/** Lines of a configuration of apt: its proxy, if it has one here. */
export function aptOptions(): string[] {
  return lines('apt-config', ['dump']).flatMap((line) => {
    const [, name, value] = APT_OPTION.exec(line) ?? [];
    return name === undefined ? [] : [`${name} ${value};`];
  });
}

/** A file with the certificates that npm or Node trust here besides their own; null without one. */
export function certificates(): string | null {
  const named = [npmSettings(['cafile']).get('cafile'), process.env['NODE_EXTRA_CA_CERTS']];
  return named.find((path) => path !== undefined && existsSync(path)) ?? null;
}

/** The environment of every program of a machine. Its npm asks the registry only for what its cache lacks. */
export function environment(): Record<string, string> {
  const proxies = PROXY_VARIABLES.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const settings = [...npmSettings(NPM_SETTINGS)].map(([name, value]) => [variable(name), value] as const);
  const trusted = certificates() === null ? [] : [[variable('cafile'), CERTIFICATES] as const];
  const node = certificates() === null ? [] : [['NODE_EXTRA_CA_CERTS', CERTIFICATES] as const];
  return { npm_config_prefer_offline: 'true', ...Object.fromEntries([...proxies, ...settings, ...trusted, ...node]) };
}

function variable(setting: string): string {
  return `npm_config_${setting.replaceAll('-', '_')}`;
}

/** Those that are set, by one call each: npm prints several as name=value, and a value can have line breaks. */
function npmSettings(names: readonly string[]): Map<string, string> {
  const values = names.flatMap((name) => {
    const value = lines('npm', ['config', 'get', name]).at(0)?.trim() ?? '';
    return ['', 'null', 'undefined'].includes(value) ? [] : [[name, value] as const];
  });
  return new Map(values);
}

/** What a program prints; nothing where it is missing or fails. */
function lines(program: string, words: readonly string[]): string[] {
  const { status, stdout } = spawnSync(program, words, { encoding: 'utf8' });
  return status === 0 ? stdout.split('\n').filter(Boolean) : [];
}
