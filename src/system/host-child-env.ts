/**
 * Returns the whole environment of a child process: PATH, a UTF-8 locale and what `named` adds. Nothing is
 * inherited, so no key or token of ours can leak into a database, a git or a tool.
 */
export function childEnv(named: Record<string, string> = {}): Record<string, string> {
  return { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C.UTF-8', ...named }
}
