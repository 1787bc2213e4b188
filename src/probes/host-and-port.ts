/** Of `host:port` or `[address]:port`, which was checked when the check was created. */
export function hostAndPort(target: string): { readonly host: string; readonly port: number } {
  const colon = target.lastIndexOf(':');
  const host = target.slice(0, colon);
  return { host: host.startsWith('[') ? host.slice(1, -1) : host, port: Number(target.slice(colon + 1)) };
}
