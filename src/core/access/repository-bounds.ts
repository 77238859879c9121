/** Repositories that a credential is limited to; null: all. Two limits combine to their intersection. */
export type RepositoryBounds = readonly number[] | null

export function narrowed(a: RepositoryBounds, b: RepositoryBounds): RepositoryBounds {
  if (a === null || b === null) return a ?? b
  return a.filter(id => b.includes(id))
}
