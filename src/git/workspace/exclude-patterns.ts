/**
 * Returns patterns with which git ignores exactly these paths (`a/b`, `folder/`). Paths with a newline cannot
 * be expressed.
 */
export function excludePatterns(paths: readonly string[]): string {
  const named = paths.filter(path => path !== '' && !/[\r\n\0]/.test(path))
  return named.map(path => `/${path.replace(/[\\*?[]/g, '\\$&').replace(/ $/, '\\ ')}\n`).join('')
}
