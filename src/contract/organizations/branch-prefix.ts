import { limits } from '../limits.ts'
import { text } from '../text.ts'
import { isRefName } from './ref-name.ts'

/** What the branches of runs begin with where neither the repository nor the organization sets it. */
export const DEFAULT_BRANCH_PREFIX = 'agent/'

/** `run-{id}-{words}` follows it. */
const isPrefix = (prefix: string) =>
  /[/_-]$/.test(prefix) && isRefName(`${prefix}run-1-x`) && !/^refs\//.test(prefix)

export const branchPrefixInput = text(1, limits.branch_prefix_chars)
  .refine(isPrefix, { error: 'must be the beginning of a valid branch name and end with /, - or _' })
  .nullish()
