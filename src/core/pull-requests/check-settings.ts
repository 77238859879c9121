/** How runs treat failing checks of a repository. */
export type CheckSettings = {
  check_retry_count: number
  ignored_checks: string[]
  check_retry_counts: Record<string, number>
  custom_prompts: Record<string, string>
  high_priority_apps: string[]
}

/** Null where nothing is set. */
type StoredSettings = { [S in keyof CheckSettings]: CheckSettings[S] | null }

const RETRIES = 3

/** Returns the stored settings with defaults for what is not set. */
export function checkSettings(kept: StoredSettings | undefined): CheckSettings {
  return {
    check_retry_count: kept?.check_retry_count ?? RETRIES,
    ignored_checks: kept?.ignored_checks ?? [],
    check_retry_counts: kept?.check_retry_counts ?? {},
    custom_prompts: kept?.custom_prompts ?? {},
    high_priority_apps: kept?.high_priority_apps ?? [],
  }
}

/** Returns how often a check is worked on. */
export const retriesOf = (settings: CheckSettings, name: string): number =>
  Object.hasOwn(settings.check_retry_counts, name)
    ? (settings.check_retry_counts[name] ?? 0)
    : settings.check_retry_count
