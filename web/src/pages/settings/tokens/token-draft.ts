import type { Body } from '../../../../../src/contract/calls.ts'
import type { Scope } from './tokens-query.ts'

/**
 * `scopes`, `repository_ids`: null is no restriction. `lifetime`: seconds, `never`, or `date` with `last_day`
 * (YYYY-MM-DD, local).
 */
export type TokenDraft = {
  name: string
  user_id: number | null
  lifetime: string
  last_day: string
  scopes: Scope[] | null
  repository_ids: number[] | null
  wire_profile: 'standard' | 'codegen'
}

const DAY_SECONDS = 86_400

export const lifetimes: [seconds: string, text: string][] = [
  [String(30 * DAY_SECONDS), 'in 30 days'],
  [String(90 * DAY_SECONDS), 'in 90 days'],
  [String(365 * DAY_SECONDS), 'in a year'],
  ['date', 'on a date'],
  ['never', 'never'],
]

export const emptyDraft = (user_id: number | null): TokenDraft => ({
  name: '',
  user_id,
  lifetime: String(90 * DAY_SECONDS),
  last_day: '',
  scopes: null,
  repository_ids: null,
  wire_profile: 'standard',
})

/** What has to be entered before the request can be sent, or null. */
export function missingIn({ name, lifetime, last_day, scopes, repository_ids }: TokenDraft): string | null {
  if (name.trim() === '') return 'Enter a name first'
  if (lifetime === 'date' && last_day === '') return 'Choose the last day first'
  if (scopes?.length === 0) return 'Choose a scope first'
  return repository_ids?.length === 0 ? 'Choose a repository first' : null
}

/** A token is accepted until the end of its last day, as the person's clock has it. */
export const requestOf = ({ lifetime, last_day, ...draft }: TokenDraft): Body<'createToken'> => ({
  ...draft,
  ...(lifetime === 'date' ? { expires_at: new Date(`${last_day}T23:59:59`).toISOString() } : {}),
  ...(/^\d+$/.test(lifetime) ? { expires_in_seconds: Number(lifetime) } : {}),
})
