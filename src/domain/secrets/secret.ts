/**
 * Bytes of a secret's value. An environment variable of a process may have 128 KiB; keys, certificates and kubeconfigs
 * are far smaller than this.
 */
export const SECRET_BYTES_MAX = 65_536;
