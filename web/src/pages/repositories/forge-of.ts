/** The host of a repository's address: a URL, or `user@host:path`. Null for a local path. */
function hostOf(address: string): string | null {
  if (/^[a-z+]+:\/\//i.test(address)) return URL.canParse(address) ? new URL(address).hostname : null
  return /^[^@/\s]+@([^:/\s]+):/.exec(address)?.[1] ?? null
}

/** The connection to the forge that hosts a repository, if there is one. */
export function forgeOf<T extends { url: string }>(address: string, connections: T[]): T | undefined {
  const host = hostOf(address)
  return host === null ? undefined : connections.find(({ url }) => hostOf(url) === host)
}
