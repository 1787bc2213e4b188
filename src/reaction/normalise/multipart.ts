const BOUNDARY = /^multipart\/form-data\b.*?;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i;
const HEADERS_END = Buffer.from('\r\n\r\n');
/** More than any real part begins with. */
const HEADERS_BYTES_MAX = 1_024;

/** The content of the first part of a multipart form that has this name; null without one, and where this is no such form. */
export function multipartField(contentType: string, bytes: Buffer, field: string): Buffer | null {
  const found = BOUNDARY.exec(contentType);
  const boundary = found?.[1] ?? found?.[2];
  if (boundary === undefined) return null;
  const mark = Buffer.from(`--${boundary}`);
  const end = Buffer.from(`\r\n--${boundary}`);
  for (let at = bytes.indexOf(mark); at !== -1; at = bytes.indexOf(mark, at + mark.length)) {
    const from = at + mark.length;
    const headersEnd = bytes.indexOf(HEADERS_END, from);
    if (headersEnd === -1 || headersEnd - from > HEADERS_BYTES_MAX) continue;
    const headers = bytes.toString('latin1', from, headersEnd);
    if (!/^content-disposition:\s*form-data\b/im.test(headers) || !headers.includes(`name="${field}"`)) continue;
    const start = headersEnd + HEADERS_END.length;
    const stop = bytes.indexOf(end, start);
    return stop === -1 ? null : bytes.subarray(start, stop);
  }
  return null;
}
