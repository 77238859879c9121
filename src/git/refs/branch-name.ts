/** All branches that the service creates or pushes start with this prefix, and it pushes no others. */
export const RUN_BRANCH_PREFIX = 'agent/run-'

/**
 * Returns `agent/run-{id}-{slug}`: the slug is at most 40 of a–z, 0–9 and `-`, cut between words where that costs little; `task` when the
 * text has none. With a number suffix when the run has abandoned `earlier` branches.
 */
export function branchName(run_id: number, title_or_prompt: string, earlier = 0): string {
  const slug = title_or_prompt
    .slice(0, 400)
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/['’]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
  return `${RUN_BRANCH_PREFIX}${run_id}-${cut(slug) || 'task'}${earlier > 0 ? `-${earlier + 1}` : ''}`
}

function cut(slug: string): string {
  if (slug.length <= 40) return slug
  const end = slug[40] === '-' ? 40 : slug.lastIndexOf('-', 39)
  return slug.slice(0, end >= 20 ? end : 40).replace(/-+$/, '')
}
