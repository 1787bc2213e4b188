/** The header for the credentials of a URL that the operator named; none where it has none. */
export function authorizationOf(url: URL): Readonly<Record<string, string>> {
  const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  if (user === '' && password === '') return {};
  // An access token alone, as ntfy has them, stands in place of the password.
  if (user === '') return { authorization: `Bearer ${password}` };
  return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
}
