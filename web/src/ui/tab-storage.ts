/**
 * Returns what this tab has stored under `key`, which may be of an earlier version; null: nothing, or the
 * browser stores nothing.
 */
export function readTabStorage(key: string): unknown {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? 'null')
  } catch {
    return null
  }
}

/**
 * Stores a value for this tab; null removes it. Without storage nothing happens: the value lasts as long as
 * its page.
 */
export function writeTabStorage(key: string, value: unknown): void {
  try {
    if (value === null) sessionStorage.removeItem(key)
    else sessionStorage.setItem(key, JSON.stringify(value))
  } catch {
    // The browser stores nothing, or the storage is full.
  }
}
