import { DEFAULT_BRANCH_PREFIX } from '../../contract/organizations/branch-prefix.ts'

/** A name of a branch of a run, with any prefix: the service creates and pushes no others. */
export const isRunBranch = (name: string): boolean => /(?:^|[/_-])run-[1-9][0-9]*-./.test(name)

/**
 * What the name of a branch is composed of. `prefix` null: the default. `earlier`: how many branches the run
 * has abandoned.
 */
type BranchParts = { id: number; title: string; prefix: string | null; earlier?: number }

/**
 * Returns `{prefix}run-{id}-{slug}`: the slug is at most 40 of a–z, 0–9 and `-`, cut between words where that
 * costs little; `task` when the text has none. With a number suffix when the run has abandoned `earlier`
 * branches.
 */
export function branchName({ id, title, prefix, earlier = 0 }: BranchParts): string {
  const slug = title
    .slice(0, 400)
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/['’]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
  return `${prefix ?? DEFAULT_BRANCH_PREFIX}run-${id}-${cut(slug) || 'task'}${earlier > 0 ? `-${earlier + 1}` : ''}`
}

/**
 * Returns the same name without folders, for a repository with a branch that has the name of one: git cannot
 * store both.
 */
export const flatBranch = (name: string): string => name.replaceAll('/', '-')

/** Returns the branches that would prevent this one: `a` and `a/b` for `a/b/c`. */
export const foldersOf = (name: string): string[] =>
  name
    .split('/')
    .slice(0, -1)
    .map((_, n, parts) => parts.slice(0, n + 1).join('/'))

function cut(slug: string): string {
  if (slug.length <= 40) return slug
  const end = slug[40] === '-' ? 40 : slug.lastIndexOf('-', 39)
  return slug.slice(0, end >= 20 ? end : 40).replace(/-$/, '')
}
