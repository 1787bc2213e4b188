/** The Authorization header for the credentials of a URL; empty for a URL without them. */
export function authorizationOf(url: URL): Readonly<Record<string, string>> {
  const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  if (user === '' && password === '') return {};
  // A password without a user is an access token, as ntfy has them.
  if (user === '') return { authorization: `Bearer ${password}` };
  return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
}
