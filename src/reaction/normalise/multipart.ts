/** Longer than any header that names a form and its boundary. */
const CONTENT_TYPE_CHARACTERS_MAX = 300;
const FORM = /^multipart\/form-data\s*;/i;
const BOUNDARY = /^\s*boundary=(?:"([^"]{1,70})"|([^\s"]{1,70}))\s*$/i;
const HEADERS_END = Buffer.from('\r\n\r\n');
/** More than any real part begins with; the end of the headers is not looked for behind that. */
const HEADERS_BYTES_MAX = 1_024;
/** Parts that are looked at. The senders that use a form send one. */
const PARTS_MAX = 32;

/** The content of the first part of a multipart form with this name; null without one, and for any other body. */
export function multipartField(contentType: string, bytes: Buffer, field: string): Buffer | null {
  const boundary = boundaryOf(contentType);
  if (boundary === null) return null;
  const mark = Buffer.from(`--${boundary}`);
  const next = Buffer.from(`\r\n--${boundary}`);
  // The first part may begin with the body itself; each other one begins on a new line.
  let at = bytes.subarray(0, mark.length).equals(mark) ? 0 : afterLineEnd(bytes.indexOf(next));
  for (let part = 0; at !== -1 && part < PARTS_MAX; part += 1) {
    const from = at + mark.length;
    const headersEnd = bytes.subarray(from, from + HEADERS_BYTES_MAX + HEADERS_END.length).indexOf(HEADERS_END);
    const start = from + headersEnd + HEADERS_END.length;
    const stop = bytes.indexOf(next, headersEnd === -1 ? from : start);
    if (headersEnd !== -1 && isNamed(bytes.toString('latin1', from, from + headersEnd), field))
      return stop === -1 ? null : bytes.subarray(start, stop);
    at = afterLineEnd(stop);
  }
  return null;
}

function boundaryOf(contentType: string): string | null {
  if (contentType.length > CONTENT_TYPE_CHARACTERS_MAX || !FORM.test(contentType)) return null;
  for (const parameter of contentType.split(';')) {
    const found = BOUNDARY.exec(parameter);
    if (found !== null) return found[1] ?? found[2] ?? null;
  }
  return null;
}

function afterLineEnd(at: number): number {
  return at === -1 ? -1 : at + 2;
}

function isNamed(headers: string, field: string): boolean {
  return /^content-disposition:\s*form-data\b/im.test(headers) && headers.includes(`name="${field}"`);
}
