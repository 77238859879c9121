import { z } from 'zod'
import { pageOf } from './page.ts'

export const Organization = z
  .object({
    id: z.int(),
    name: z.string(),
    settings: z.object({ enable_pr_creation: z.boolean(), enable_rules_detection: z.boolean() }),
  })
  .meta({ id: 'OrganizationResponse' })

export const Repository = z
  .object({
    id: z.int(),
    name: z.string(),
    full_name: z.string(),
    description: z.string().nullable(),
    github_id: z.string(),
    organization_id: z.int(),
    visibility: z.string().nullable(),
    archived: z.boolean(),
    setup_status: z.string(),
    language: z.string().nullable(),
    url: z.string().describe('Where it is cloned from and pushed to, without credentials'),
    default_branch: z.string().nullable(),
    is_default: z.boolean().describe('Used by runs that name no repository'),
    sample: z.boolean().describe('The small sample repository of the first start'),
  })
  .meta({ id: 'RepoResponse' })

export const Models = z
  .object({
    providers: z.array(z.object({ name: z.string(), models: z.array(z.object({ label: z.string(), value: z.string() })) })),
    default_model: z.string(),
  })
  .meta({ id: 'ModelsResponse' })

export const OrganizationPage = pageOf(Organization).meta({ id: 'PageOfOrganization' })
export const RepositoryPage = pageOf(Repository).meta({ id: 'PageOfRepository' })
