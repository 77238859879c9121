import type { Result } from '../../../../src/contract/calls.ts'

export type Egress = Result<'getEgress'>
export type Rule = Egress['agent']['allow'][number]

/** The network rules of a repository or of the organization, and the requests that change them. */
export type EgressTarget = {
  saved: Egress
  /**
   * The rules of the organization, which apply to the repository too. Null: the target is the organization.
   */
  inherited: Egress | null
  /** Why this person may not change them, or null. */
  forbidden: string | null
  /** Replaces all rules. */
  set(egress: Egress): Promise<unknown>
  /** Adds a rule. */
  allow(rule: Rule): Promise<unknown>
}

/** Identifies a rule: two rules with the same key allow the same. */
export const keyOf = ({ host, port, methods }: Rule) => [host, port ?? '', ...(methods ?? [])].join(' ')
