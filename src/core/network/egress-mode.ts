/** The mode of a run, from what its organization and then its repository have set, as far as they have; `usual` where neither has a mode. */
export function egressMode(set: readonly { mode: 'off' | 'allowlist' | null }[], usual: 'off' | 'allowlist'): 'off' | 'allowlist' {
  return set.findLast(({ mode }) => mode !== null)?.mode ?? usual
}

/** The same for its setup commands, which may reach what is public where nothing else was said. */
export function setupMode(set: readonly { setup_mode: 'off' | 'allowlist' | 'open' | null }[]): 'off' | 'allowlist' | 'open' {
  return set.findLast(({ setup_mode }) => setup_mode !== null)?.setup_mode ?? 'open'
}
