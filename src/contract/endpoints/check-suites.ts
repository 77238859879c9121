import { z } from 'zod'
import { id } from '../decimal.ts'
import { type Endpoint, org, v1 } from '../endpoint.ts'
import { CheckSuiteSettings, CheckSuiteSettingsInput } from '../pull-requests/check-suite-settings.ts'

const of_repository = z.object({ repo_id: id().describe('The repository') })

/** How runs treat failing checks, by repository. */
export const checkSuiteEndpoints = {
  getCheckSuiteSettings: {
    ...v1,
    tag: 'check-suite-settings',
    method: 'GET',
    path: '/v1/organizations/{org_id}/repos/check-suite-settings',
    summary: 'Get the settings for failing checks of a repository',
    scope: 'repos:read',
    bucket: 'standard',
    params: org,
    query: of_repository,
    problems: ['not_found'],
    response: CheckSuiteSettings,
  },
  updateCheckSuiteSettings: {
    ...v1,
    tag: 'check-suite-settings',
    method: 'PUT',
    path: '/v1/organizations/{org_id}/repos/check-suite-settings',
    summary: 'Change the settings for failing checks of a repository',
    description:
      'An absent or null key is unchanged. Active runs use the new settings from their next poll of the checks on.',
    scope: 'repos:admin',
    bucket: 'standard',
    params: org,
    query: of_repository,
    problems: ['not_found'],
    body: CheckSuiteSettingsInput,
    response: CheckSuiteSettings,
  },
} as const satisfies Record<string, Endpoint>
