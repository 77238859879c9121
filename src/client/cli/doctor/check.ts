import type { HealthCheck } from '../../../contract/organizations/organization-limits.ts'
import type { Settings } from '../settings.ts'

export { broken, ok, warning } from '../../../core/health-checks.ts'
export type Finding = HealthCheck

export type Patient = { settings: Settings; signal: AbortSignal; now: () => number; version: string }

/** The timeout of one check of the service. */
export const CHECK_TIMEOUT_MS = 10_000
