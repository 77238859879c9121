import { z } from 'zod'
import { pageOf } from './page.ts'

export const Organization = z
  .object({
    id: z.int().describe('The organization'),
    name: z.string().describe('Name to show'),
    settings: z
      .object({
        enable_pr_creation: z.boolean().describe('Whether runs propose a pull request unless they say otherwise'),
        enable_rules_detection: z.boolean().describe('Whether rules for agents are looked for in repositories'),
      })
      .describe('Defaults of its runs'),
  })
  .meta({
    id: 'OrganizationResponse',
    examples: [{ id: 1, name: 'My organization', settings: { enable_pr_creation: true, enable_rules_detection: true } }],
  })

export const Repository = z
  .object({
    id: z.int().describe('What `repo_id` of a run names'),
    name: z.string().describe('Last part of its address'),
    full_name: z.string().describe('Owner and name'),
    description: z.string().nullable().describe('What it is, in a line'),
    github_id: z.string().describe("GitHub's id as text; empty when it is not from there"),
    organization_id: z.int().describe('Whose repository it is'),
    visibility: z.string().nullable().describe('`public` or `private`, if known'),
    archived: z.boolean().describe('Whether it takes no more runs'),
    setup_status: z.string().describe('`SETUP` or `NOT_SETUP`'),
    language: z.string().nullable().describe('Main language, if known'),
    url: z.string().describe('Where it is cloned from and pushed to, without credentials'),
    default_branch: z.string().nullable().describe('Where runs without `base_ref` start; null until it was looked at'),
    is_default: z.boolean().describe('Used by runs that name no repository'),
    sample: z.boolean().describe('The small sample repository of the first start'),
  })
  .meta({
    id: 'RepoResponse',
    examples: [
      {
        ...{ id: 1, name: 'shop', full_name: 'acme/shop', description: null, github_id: '', organization_id: 1, visibility: null },
        ...{ archived: false, setup_status: 'NOT_SETUP', language: null, url: 'https://git.example.org/acme/shop.git' },
        ...{ default_branch: 'main', is_default: true, sample: false },
      },
    ],
  })

const ModelOption = z.object({
  label: z.string().describe('Name to show'),
  value: z.string().describe('What `model` of a run takes'),
})

export const Models = z
  .object({
    providers: z
      .array(z.object({ name: z.string().describe('The provider'), models: z.array(ModelOption).describe('Its models') }))
      .describe('Providers that have what they need to be called'),
    default_model: z.string().describe('Used by runs that name none'),
  })
  .meta({
    id: 'ModelsResponse',
    examples: [
      {
        providers: [{ name: 'Anthropic', models: [{ label: 'Claude Sonnet 4.5', value: 'anthropic/claude-sonnet-4-5' }] }],
        default_model: 'anthropic/claude-sonnet-4-5',
      },
    ],
  })

export const OrganizationPage = pageOf(Organization).meta({ id: 'PageOfOrganization' })
export const RepositoryPage = pageOf(Repository).meta({ id: 'PageOfRepository' })
