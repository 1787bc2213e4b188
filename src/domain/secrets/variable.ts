/** Which names the variables of a job's environment may have. */

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Names that make a dynamic loader, a shell or an interpreter run code before the tool starts. No kind of job needs
 * one, and as the name of a secret one would bypass every check of the tool.
 */
const LOADS_CODE: readonly RegExp[] = [
  /^(?:LD_.*|DYLD_.*|GLIBC_TUNABLES|GCONV_PATH|LOCPATH)$/,
  /^(?:NODE_OPTIONS|NODE_PATH|PYTHON(?:PATH|HOME|STARTUP|USERBASE)|PERL5(?:LIB|OPT|DB)|PERLLIB|RUBY(?:OPT|LIB))$/,
  /^(?:JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS)$/,
  /^(?:BASH_ENV|ENV|SHELLOPTS|BASHOPTS|PS4|PROMPT_COMMAND|IFS|BASH_FUNC_.*)$/,
];

/**
 * Names that configure a tool that jobs run: its configuration, plug-ins, keys, certificates, proxy, log and output.
 * The kind of a job sets those that it needs; a secret only brings a value.
 */
const STEERS: readonly RegExp[] = [
  // All variables of terraform and tofu, such as TF_CLI_ARGS, TF_CLI_CONFIG_FILE, TF_PLUGIN_CACHE_DIR,
  // TF_REATTACH_PROVIDERS, TF_DATA_DIR, TF_LOG and TF_WORKSPACE, except those that only carry a value: variables and
  // tokens.
  /^TF_(?!VAR_|TOKEN_)/,
  /^(?:ANSIBLE|GIT|SSH|PIP|NPM_CONFIG|XDG|OPENSSL|MALLOC|LC)_/,
  /^PYTHON/,
  // Programs read these in either case, and some in both.
  /_proxy$/i,
  /^(?:PATH|HOME|PWD|OLDPWD|USER|LOGNAME|SHELL|TERM|TERMINFO|TERMCAP|LANG|LANGUAGE|NLSPATH|TZ|TZDIR|TMP|TEMP|TMPDIR)$/,
  /^(?:EDITOR|VISUAL|PAGER|BROWSER|LESSOPEN|LESSCLOSE|CDPATH|GLOBIGNORE|INPUTRC)$/,
  /^(?:NODE_EXTRA_CA_CERTS|NODE_TLS_REJECT_UNAUTHORIZED|SSL_CERT_FILE|SSL_CERT_DIR|SSLKEYLOGFILE)$/,
  /^(?:CURL_CA_BUNDLE|CURL_HOME|REQUESTS_CA_BUNDLE|GNUPGHOME|KRB5_CONFIG|NETRC)$/,
  /^(?:HOSTALIASES|LOCALDOMAIN|RES_OPTIONS|RESOLV_HOST_CONF|GODEBUG|CHECKPOINT_DISABLE|LISTEN_FDS|NOTIFY_SOCKET)$/,
];

/** True if no job may get a variable of this name, for any caller. */
export function isRefusedVariable(name: string): boolean {
  return !NAME.test(name) || LOADS_CODE.some((pattern) => pattern.test(name)) || name.startsWith('SVC_');
}

/** The names that the service itself gives: to a command that an event asked for, and to a tool that reports. */
const OF_SERVICE = /^SVC_(?:EVENT_FILE|LABEL_[A-Z0-9_]*|REPORT_FD)$/;

/** True when the kind of a job may not set a variable of this name. */
export function isRefusedKindVariable(name: string): boolean {
  return isRefusedVariable(name) && !OF_SERVICE.test(name);
}

/** True when a caller may not give a run a secret under this name: a refused variable, or one that steers a tool. */
export function isRefusedRunSecretName(name: string): boolean {
  return isRefusedVariable(name) || STEERS.some((pattern) => pattern.test(name));
}
