import type { RepositoryKind } from '../core/repositories/repository-kind.ts'

/**
 * A repository as git needs it. `url`: the result of `parseRepositoryUrl`, for `local` an absolute path;
 * `organization_id`: the owner of its credentials, without it there are none.
 */
export type GitRepository = { id: number; organization_id?: number; kind: RepositoryKind; url: string }
