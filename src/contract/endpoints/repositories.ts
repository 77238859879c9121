import { z } from 'zod'
import { type Endpoint, org, repository, v1 } from '../endpoint.ts'
import { pageQuery } from '../page.ts'
import { CreateRepositoryInput, Repository, RepositoryPage, UpdateRepositoryInput } from '../repositories/repositories.ts'
import { StartupFigures, StartupQuery } from '../runs/startups.ts'

/** Repositories of an organization (specification.md#access). */
export const repositoryEndpoints = {
  listRepositories: {
    ...v1,
    tag: 'repositories',
    method: 'GET',
    path: '/v1/organizations/{org_id}/repos',
    aliases: ['/v1/organizations/{org_id}/repositories'],
    summary: 'List repositories, oldest first',
    reach: 'filtered',
    scope: 'repos:read',
    bucket: 'standard',
    params: org,
    query: z.object(pageQuery),
    response: RepositoryPage,
  },
  createRepository: {
    ...v1,
    tag: 'repositories',
    method: 'POST',
    path: '/v1/organizations/{org_id}/repos',
    summary: 'Register a repository',
    description:
      'Its first fetch begins at once; that it cannot be reached is told by the runs. An address that is registered already is 409, and `detail` says as which repository.',
    scope: 'repos:admin',
    bucket: 'standard',
    params: org,
    problems: ['conflict'],
    body: CreateRepositoryInput,
    response: Repository,
  },
  getRepository: {
    ...v1,
    tag: 'repositories',
    method: 'GET',
    path: '/v1/organizations/{org_id}/repos/{repo_id}',
    aliases: ['/v1/organizations/{org_id}/repositories/{repo_id}'],
    summary: 'Get a repository',
    scope: 'repos:read',
    bucket: 'standard',
    params: repository,
    response: Repository,
  },
  updateRepository: {
    ...v1,
    tag: 'repositories',
    method: 'PATCH',
    path: '/v1/organizations/{org_id}/repos/{repo_id}',
    summary: 'Change what is set for a repository',
    description: 'A key that is absent stays as it is. An archived repository takes no new runs; those that it has can go on.',
    scope: 'repos:admin',
    bucket: 'standard',
    params: repository,
    body: UpdateRepositoryInput,
    response: Repository,
  },
  getRepositoryStartups: {
    ...v1,
    tag: 'repositories',
    method: 'GET',
    path: '/v1/organizations/{org_id}/repos/{repo_id}/startups',
    summary: 'What the starts of its runs took, in figures',
    scope: 'repos:read',
    bucket: 'standard',
    params: repository,
    query: StartupQuery,
    response: StartupFigures,
  },
  deleteRepository: {
    ...v1,
    tag: 'repositories',
    method: 'DELETE',
    path: '/v1/organizations/{org_id}/repos/{repo_id}',
    summary: 'Remove a repository',
    description:
      'Its runs and their traces stay, and can not be resumed. 409 while one of its runs has not ended. The address may be registered again, as another repository.',
    scope: 'repos:admin',
    bucket: 'standard',
    params: repository,
    problems: ['conflict'],
    response: Repository,
  },
} as const satisfies Record<string, Endpoint>
