/**
 * Returns one name for each path of the sandbox: without `.`, `..` and repeated slashes, relative to the
 * workspace when it is inside, otherwise absolute. Links are not followed.
 */
export function workspacePath(path: string): string {
  const parts: string[] = []
  for (const part of (path.startsWith('/') ? path : `/workspace/${path}`).split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '.' && part !== '') parts.push(part)
  }
  return parts[0] === 'workspace' && parts.length > 1 ? parts.slice(1).join('/') : `/${parts.join('/')}`
}
