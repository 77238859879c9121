import type { Settings } from '../settings.ts'

/** `broken` is what keeps things from working, `warning` what works and may not be meant. Both come with their fix. */
export type Finding = { check: string; state: 'ok' | 'warning' | 'broken'; detail: string; fix: string | null }

export const ok = (check: string, detail: string): Finding => ({ check, state: 'ok', detail, fix: null })
export const warning = (check: string, detail: string, fix: string): Finding => ({ check, state: 'warning', detail, fix })
export const broken = (check: string, detail: string, fix: string): Finding => ({ check, state: 'broken', detail, fix })

export type Patient = { settings: Settings; signal: AbortSignal; now: () => number; version: string }

/** The timeout of one check of the service. */
export const CHECK_TIMEOUT_MS = 10_000
