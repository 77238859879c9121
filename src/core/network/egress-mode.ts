/**
 * Returns the egress mode of a run: the setting of its repository, else of its organization, else `fallback`.
 */
export function egressMode(
  set: readonly { mode: 'off' | 'allowlist' | null }[],
  fallback: 'off' | 'allowlist',
): 'off' | 'allowlist' {
  return set.findLast(({ mode }) => mode !== null)?.mode ?? fallback
}

/** Returns the egress mode of setup commands, which may reach public hosts by default. */
export function setupMode(
  set: readonly { setup_mode: 'off' | 'allowlist' | 'open' | null }[],
): 'off' | 'allowlist' | 'open' {
  return set.findLast(({ setup_mode }) => setup_mode !== null)?.setup_mode ?? 'open'
}
