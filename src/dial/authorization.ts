/** The Authorization header for the credentials of a URL; empty for a URL without them. */
export function authorizationOf(url: URL): Readonly<Record<string, string>> {
  const [user, password] = [decoded(url.username), decoded(url.password)];
  if (user === '' && password === '') return {};
  // A password without a user is an access token, as ntfy has them.
  if (user === '') return { authorization: `Bearer ${headerValue(password)}` };
  return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
}

/** Of a header, whose characters are bytes: the text as UTF-8, and a control character as its escape. */
function headerValue(text: string): string {
  const escaped = text.replaceAll(/[\p{Cc}]/gu, (character) => encodeURIComponent(character));
  return Buffer.from(escaped).toString('latin1');
}

/** A percent sign that begins no escape is itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
