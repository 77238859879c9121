/** Repositories that something is good for; null: all. What is bound twice is good for what both allow. */
export type RepositoryBounds = readonly number[] | null

export function narrowed(a: RepositoryBounds, b: RepositoryBounds): RepositoryBounds {
  if (a === null || b === null) return a ?? b
  return a.filter(id => b.includes(id))
}
