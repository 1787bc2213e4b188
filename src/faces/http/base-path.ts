/** A target that no route has: a request line cannot hold a space. */
export const NOWHERE = '/ nowhere';

/** RFC 9112 requires a server to accept the absolute form too; its host is ignored, as the Host header is. */
const ABSOLUTE = /^https?:\/\/[^/?#]*/i;

/**
 * The target of a request without the base path. A target outside it, or one that is not valid in a request line,
 * has no route. Nothing is decoded or normalised, so exactly the configured prefix is removed.
 */
export function strippedTarget(target: string, basePath: string): string {
  const local = target.startsWith('/') ? target : target.replace(ABSOLUTE, '');
  if (!local.startsWith('/') && local !== '' && !local.startsWith('?')) return NOWHERE;
  if (/[#\\]/.test(local) || !local.startsWith(basePath)) return NOWHERE;
  const rest = local.slice(basePath.length);
  if (rest === '' || rest.startsWith('?')) return `/${rest}`;
  return rest.startsWith('/') ? rest : NOWHERE;
}

/** Whether a stripped target belongs to the API, where every answer is an envelope. */
export function isApi(stripped: string): boolean {
  return /^\/api\/v1(?:[/?]|$)/.test(stripped);
}
