/** Alternating header names and values, the form that Node writes fastest. */
export type HeaderList = readonly string[];

/**
 * On every answer. There are no CORS headers: no other origin may read an answer.
 * The policy of pages adds what their own style needs.
 */
const COMMON = {
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Frame-Options': 'DENY',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=(), payment=()',
};

/** For answers that are not pages: the content may not run, be framed or load anything. */
const DATA = {
  ...COMMON,
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
};

function list(headers: Readonly<Record<string, string>>): HeaderList {
  return Object.entries(headers).flat();
}

/** For an answer that is not a page, and may change at any moment. */
export function dataHeaders(contentType?: string): HeaderList {
  const type = contentType === undefined ? {} : { 'Content-Type': contentType };
  return list({ ...DATA, ...type, 'Cache-Control': 'no-store' });
}

/** For a text that a browser shows as it is, and saves under this name. */
export function textHeaders(fileName: string): HeaderList {
  return [...dataHeaders('text/plain; charset=utf-8'), 'Content-Disposition', `inline; filename="${fileName}"`];
}

/** For a page without scripts whose one style element has the given SHA-256. */
export function pageHeaders(styleSha256: string, cache = 'no-store'): HeaderList {
  return policed([`style-src 'sha256-${styleSha256}'`], cache);
}

/** For a page of the console: it loads its files from here and nothing from elsewhere, and is kept nowhere. */
export const CONSOLE_HEADERS: HeaderList = policed(
  [
    "style-src 'self'",
    "script-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "require-trusted-types-for 'script'",
    'trusted-types svc svc-worker',
  ],
  'no-store',
);

/** For a file whose name changes with its content. */
export function assetHeaders(contentType: string): HeaderList {
  const cache = 'private, max-age=31536000, immutable';
  return list({ ...DATA, 'Content-Type': contentType, 'Cache-Control': cache });
}

/** For a file that keeps its name: a browser asks whether it has changed. */
export function checkedHeaders(contentType: string): HeaderList {
  return list({ ...DATA, 'Content-Type': contentType, 'Cache-Control': 'no-cache' });
}

function policed(sources: readonly string[], cache: string): HeaderList {
  const policy = ["default-src 'none'", ...sources, "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"];
  return list({
    ...COMMON,
    // With `no-referrer` a browser posts forms with `Origin: null`, and over plain http only Origin shows
    // which page sent a form.
    'Referrer-Policy': 'same-origin',
    'Content-Security-Policy': policy.join('; '),
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': cache,
  });
}

const JSON_TYPE = 'application/json; charset=utf-8';

export const JSON_HEADERS: HeaderList = dataHeaders(JSON_TYPE);

/** For an answer that the client may cache but must revalidate each time. */
export function revalidated(etag: string): HeaderList {
  return list({ ...DATA, 'Content-Type': JSON_TYPE, 'Cache-Control': 'private, no-cache', ETag: etag });
}

export const STREAM_HEADERS: HeaderList = list({
  ...DATA,
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store',
  // A buffering proxy would delay the output of a job.
  'X-Accel-Buffering': 'no',
  // Clients that watch only the connection see the end of the stream.
  Connection: 'close',
});
