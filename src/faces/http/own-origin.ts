/** Whether a page of this origin is of the host that the request was sent to. */
export function isOwnOrigin(origin: string, host: string | undefined): boolean {
  // A page that hides its origin sends "null", which is not a URL.
  if (host === undefined || !URL.canParse(origin)) return false;
  const { protocol, host: from } = new URL(origin);
  return URL.canParse(`${protocol}//${host}`) && new URL(`${protocol}//${host}`).host === from;
}
