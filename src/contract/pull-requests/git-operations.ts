import { z } from 'zod'
import { id } from '../decimal.ts'
import { type Endpoint, none, org } from '../endpoint.ts'

const of_repository = {
  tag: 'repositories',
  access: 'token',
  bucket: 'standard',
  stability: 'stable',
  params: org.extend({ repo_id: id() }),
  query: none,
  body: null,
  response: 'file',
} as const

/**
 * The requests of git itself (specification.md#access): its smart HTTP protocol, with a token as the
 * password. Not part of the API document, because no API client calls them; permissions are checked as for
 * every endpoint.
 */
export const gitOperations = {
  gitInfoRefs: {
    ...of_repository,
    method: 'GET',
    path: '/git/{org_id}/{repo_id}.git/info/refs',
    summary: 'Branches and tags',
    query: z.object({
      service: z.enum(['git-upload-pack', 'git-receive-pack'], {
        error: 'this git is too old: only its smart HTTP protocol is spoken here',
      }),
    }),
    scope: 'repos:read',
  },
  gitUploadPack: {
    ...of_repository,
    method: 'POST',
    path: '/git/{org_id}/{repo_id}.git/git-upload-pack',
    summary: 'Fetch',
    scope: 'repos:read',
  },
  gitReceivePack: {
    ...of_repository,
    method: 'POST',
    path: '/git/{org_id}/{repo_id}.git/git-receive-pack',
    summary: 'Push',
    scope: 'runs:write',
  },
} as const satisfies Record<string, Endpoint>
