/** Bytes of a secret's value: a half of what an environment variable may have, and more than keys or kubeconfigs. */
export const SECRET_BYTES_MAX = 65_536;
