/** `10.0.0.5:443`, `www.example.org:443` or `[2001:db8::5]:443`. */
export function hostPort(host: string, port: number | string): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The host of a URL, without the brackets of IPv6. */
export function hostOfUrl({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

/** The parts of what `hostPort` made, or of a text of this form that was checked before. */
export function splitHostPort(text: string): { readonly host: string; readonly port: number } {
  const colon = text.lastIndexOf(':');
  const host = text.slice(0, colon);
  return { host: host.startsWith('[') ? host.slice(1, -1) : host, port: Number(text.slice(colon + 1)) };
}
