import type { ForgeRepository } from '../../core/forges/forge-address.ts'

/** Returns the path of a repository in the API. */
export const pathOf = ({ owner, name }: ForgeRepository): string =>
  `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`
