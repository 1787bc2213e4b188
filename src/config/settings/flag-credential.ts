/** Credentials in values of flags. Every user of a machine can read the command line of every process. */

/** The part between `//` and the first `/`, `?` or `#`, up to its last `@`. A prefix `NAME=` of the URL is skipped. */
const USER_INFO = /^(?:[^:/?#@=]*=)?[a-z][a-z0-9+.-]*:\/\/([^/?#]*)@/i;
/** Usual names of query parameters that hold a credential. */
const SECRET_PARAMETER = /auth|token|key|secret|pass|pwd|sig|cred|bearer/i;
/** Parameters of a PostgreSQL URL that hold a password. */
const PASSWORD_PARAMETERS = ['password', 'sslpassword'];

/** True for a PostgreSQL URL with a password. */
export function hasDatabasePassword(url: string): boolean {
  const user = USER_INFO.exec(url)?.[1] ?? '';
  return user.includes(':') || parameterNames(url).some((name) => PASSWORD_PARAMETERS.includes(name.toLowerCase()));
}

/** True if one of the targets (separated by blanks) has a user, a password, or a query parameter for a credential. */
export function hasTargetCredential(targets: string): boolean {
  return targets
    .split(/\s+/)
    .some((target) => USER_INFO.test(target) || parameterNames(target).some((name) => SECRET_PARAMETER.test(name)));
}

function parameterNames(url: string): string[] {
  const at = url.indexOf('?');
  return at < 0 ? [] : [...new URLSearchParams(url.slice(at + 1)).keys()];
}
