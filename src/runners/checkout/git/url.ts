import { isIPv4, isIPv6 } from 'node:net';
import { allowsAddress, isMetadataName } from '../../../lib/ip/address.ts';
import { Failure } from '../../../domain/failure.ts';

/** Of a URL, in characters: more than any server takes. */
const URL_MAX = 2_000;
const REF_MAX = 200;
const PORT_MAX = 65_535;

/** The only ways out. A test that brings its own repository adds `file`. */
export const GIT_PROTOCOLS: readonly string[] = ['https', 'ssh'];

const NO_SERVER =
  'this address is not allowed: it is link-local, of a metadata service, or not the address of a server';
const FORMS = 'expected https://host/path, ssh://user@host/path or user@host:path';
const HTTPS = /^https:\/\/(?<host>[^/]*)\/(?<path>.+)$/;
const SSH = /^ssh:\/\/(?:(?<user>[^/@]*)@)?(?<host>[^/@]*)\/(?<path>.+)$/;
/** As scp has it; a path that begins with a slash or not, but never with two: that is no address of a server. */
const SCP = /^(?<user>[^/@:]+)@(?<host>\[[^\]/@]*\]|[^/@:[\]]*):(?<path>(?!\/\/).+)$/;
const USER = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/;
const NAME_OR_IPV4 = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$/;
/** What a path in a repository's address has; nothing that a shell on the other side would read as more than a name. */
const PATH = /^[A-Za-z0-9._~/@:+,=-]+$/;
/** Throws invalid_argument with the reason, and without the URL, which may hold a password. */
export function checkGitUrl(text: string): void {
  if (text.length > URL_MAX) throw refused(`expected at most ${URL_MAX} characters`);
  if (!/^[\x21-\x7e]+$/.test(text)) throw refused('expected printable ASCII without spaces');
  const match = HTTPS.exec(text) ?? SSH.exec(text) ?? (text.includes('://') ? null : SCP.exec(text));
  if (match?.groups === undefined) throw refused(FORMS);
  const { user, host = '', path = '' } = match.groups;
  if (text.startsWith('https:') && host.includes('@'))
    throw refused('the URL must not contain credentials; use ssh with a deploy key');
  if (user !== undefined && !USER.test(user)) throw refused('invalid user name');
  if (!PATH.test(path) || path.startsWith('-')) throw refused('the path has a character that is not allowed');
  if (path.split('/').includes('..')) throw refused('the path must not contain ..');
  checkHost(host, text.includes('://'));
}

function checkHost(text: string, mayHavePort: boolean): void {
  const match = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(text);
  const [, host = '', port] = match ?? [];
  if (port !== undefined && (!mayHavePort || Number(port) === 0 || Number(port) > PORT_MAX))
    throw refused('invalid port');
  if (host.startsWith('[')) {
    const inner = host.slice(1, -1);
    if (!isIPv6(inner) || inner.includes('%')) throw refused('invalid address in brackets');
    if (!allowsAddress('git', inner)) throw refused(NO_SERVER);
    return;
  }
  if (!NAME_OR_IPV4.test(host)) throw refused('invalid host; expected a name or an address');
  if (isMetadataName(host)) throw refused(NO_SERVER);
  // An IPv4 address has many spellings (decimal, hexadecimal, octal, shortened), which programs connect to all the
  // same.
  const spelt = URL.parse(`http://${host}`)?.hostname;
  if (spelt === undefined) throw refused('invalid host; expected a name or an address');
  if (isIPv4(spelt) && !allowsAddress('git', spelt)) throw refused(NO_SERVER);
}

/** Throws invalid_argument unless it is the name of a branch or tag, or a commit. */
export function checkGitRef(text: string): void {
  const isName = /^[A-Za-z0-9_][A-Za-z0-9._/+@#-]*$/.test(text) && text.length <= REF_MAX;
  const parts = text.split('/');
  const isPlain = parts.every(
    (part) => part !== '' && !part.startsWith('.') && !part.endsWith('.') && !part.endsWith('.lock'),
  );
  if (!isName || !isPlain || text.includes('..'))
    throw new Failure('invalid_argument', 'ref: expected the name of a branch or tag, or a commit.');
}

function refused(why: string): Failure {
  return new Failure('invalid_argument', `git: ${why}.`);
}
