import { z } from 'zod'
import { type Endpoint, org, repository, v1 } from '../endpoint.ts'
import { pageQuery } from '../page.ts'
import {
  CreateRepositoryInput,
  Repository,
  RepositoryPage,
  UpdateRepositoryInput,
} from '../repositories/repositories.ts'
import { StartupQuery, StartupStatistics } from '../runs/startups.ts'

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
      'The first fetch starts immediately; runs report if the repository cannot be reached. An address that is already registered is 409, and `detail` names the repository.',
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
    summary: 'Change the settings of a repository',
    description:
      'An absent key is unchanged. An archived repository accepts no new runs; its existing runs can continue.',
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
    summary: 'Get the start times of its runs',
    scope: 'repos:read',
    bucket: 'standard',
    params: repository,
    query: StartupQuery,
    response: StartupStatistics,
  },
  deleteRepository: {
    ...v1,
    tag: 'repositories',
    method: 'DELETE',
    path: '/v1/organizations/{org_id}/repos/{repo_id}',
    summary: 'Remove a repository',
    description:
      'Its runs and their traces stay, and cannot be resumed. 409 while one of its runs has not ended. The address may be registered again, as another repository.',
    scope: 'repos:admin',
    bucket: 'standard',
    params: repository,
    problems: ['conflict'],
    response: Repository,
  },
} as const satisfies Record<string, Endpoint>
