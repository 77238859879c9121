/** Lines by which git leaves out what stands at these paths (`a/b`, `folder/`) and nothing else. Paths with a line's end cannot be named so. */
export function excludePatterns(paths: readonly string[]): string {
  const named = paths.filter(path => path !== '' && !/[\r\n\0]/.test(path))
  return named.map(path => `/${path.replace(/[\\*?[]/g, '\\$&').replace(/ $/, '\\ ')}\n`).join('')
}
