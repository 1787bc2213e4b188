/** Header names and values in turn, as Node writes them without looking anything up. */
export type HeaderList = readonly string[];

/**
 * On every answer, whatever it holds. There is no CORS header anywhere: no other origin has any business here.
 * The policy of pages adds what their own style needs.
 */
const COMMON: HeaderList = [
  'X-Content-Type-Options',
  'nosniff',
  'Cross-Origin-Opener-Policy',
  'same-origin',
  'Cross-Origin-Resource-Policy',
  'same-origin',
  'X-Frame-Options',
  'DENY',
  'Permissions-Policy',
  'camera=(), microphone=(), geolocation=(), payment=()',
];

/** For what is no page: nothing that it holds may be run, shown in a frame or loaded by it. */
export const DATA_HEADERS: HeaderList = [
  ...COMMON,
  'Referrer-Policy',
  'no-referrer',
  'Content-Security-Policy',
  "default-src 'none'; frame-ancestors 'none'",
];

/** For a page without scripts whose one style element has the given SHA-256. */
export function pageHeaders(styleSha256: string): HeaderList {
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${styleSha256}'`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  return [
    ...COMMON,
    // With `no-referrer` a browser posts forms with `Origin: null`, and over plain http that is all that tells us
    // whose page a form was on.
    'Referrer-Policy',
    'same-origin',
    'Content-Security-Policy',
    policy.join('; '),
    'Content-Type',
    'text/html; charset=utf-8',
    'Cache-Control',
    'no-store',
  ];
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** For an answer in JSON that may change at any moment. */
export const JSON_HEADERS: HeaderList = [...DATA_HEADERS, 'Content-Type', JSON_TYPE, 'Cache-Control', 'no-store'];

/** For an answer that the client may keep, as long as it asks each time whether it still holds. */
export function revalidated(etag: string): HeaderList {
  return [...DATA_HEADERS, 'Content-Type', JSON_TYPE, 'Cache-Control', 'private, no-cache', 'ETag', etag];
}

export const STREAM_HEADERS: HeaderList = [
  ...DATA_HEADERS,
  'Content-Type',
  'text/event-stream; charset=utf-8',
  'Cache-Control',
  'no-store',
  // A proxy that gathers would show the output of a job in lumps.
  'X-Accel-Buffering',
  'no',
  // A stream that has ended is over for everybody who looks at the connection only.
  'Connection',
  'close',
];
