import { z } from 'zod'
import { limits } from '../limits.ts'
import { branchPrefixInput } from '../organizations/branch-prefix.ts'
import { pageOf } from '../page.ts'
import { ReasoningEffort, reasoningEffortInput } from '../reasoning-effort-schema.ts'
import { ReviewMode, reviewModeInput } from '../review-mode-schema.ts'
import { text } from '../text.ts'

export const Repository = z
  .object({
    id: z.int().describe('The id, as `repo_id` of a run names it'),
    name: z.string().describe('Last part of its address'),
    full_name: z.string().describe('Owner and name'),
    description: z.string().nullable().describe('Description in one line'),
    github_id: z.string().describe("GitHub's id as text; empty when it is not from there"),
    organization_id: z.int().describe('Organization of the repository'),
    visibility: z.string().nullable().describe('`public` or `private`, if known'),
    archived: z.boolean().describe('Whether it rejects new runs'),
    setup_status: z.string().describe('`SETUP` or `NOT_SETUP`'),
    language: z.string().nullable().describe('Main language, if known'),
    url: z.string().describe('Address for clone and push, without credentials'),
    default_branch: z
      .string()
      .nullable()
      .describe('Default base of runs without `base_ref`; null until it was detected'),
    reasoning_effort: ReasoningEffort.nullable().describe(
      "Reasoning effort of its runs; null: the organization's",
    ),
    review: ReviewMode.nullable().describe(
      "Reviewer of the changes of its runs: `model` or `rules`; null: the organization's",
    ),
    branch_prefix: z
      .string()
      .nullable()
      .describe("Beginning of the names of its runs' branches; null: the organization's"),
    use_mcp_file: z.boolean().describe('Whether runs use the MCP servers that its own `.mcp.json` names'),
    is_default: z.boolean().describe('Used by runs that name no repository'),
    sample: z.boolean().describe('The small sample repository of the first start'),
  })
  .meta({
    id: 'RepoResponse',
    examples: [
      {
        id: 1,
        name: 'shop',
        full_name: 'acme/shop',
        description: null,
        github_id: '',
        organization_id: 1,
        visibility: null,
        archived: false,
        setup_status: 'NOT_SETUP',
        language: null,
        url: 'https://git.example.org/acme/shop.git',
        default_branch: 'main',
        reasoning_effort: null,
        review: null,
        branch_prefix: null,
        use_mcp_file: false,
        is_default: true,
        sample: false,
      },
    ],
  })

export const RepositoryPage = pageOf(Repository).meta({ id: 'PageOfRepository' })

const name = text(1, limits.name_chars, { trim: true }).describe('Display name')
const description = text(0, limits.description_chars, { trim: true }).describe('Description in one line')
const branch = text(1, 255).describe('Base of runs without `base_ref`')

export const CreateRepositoryInput = z
  .object({
    url: text(1, limits.repository_url_chars).describe(
      'https or ssh, without a password; a local path only where the operator allows it',
    ),
    name: name.nullish().describe('Name to show; absent: the last part of the address'),
    default_branch: branch
      .nullish()
      .describe("Base of runs without `base_ref`; absent: the repository's own default branch"),
    description: description.nullish(),
  })
  .meta({ id: 'CreateRepositoryInput', examples: [{ url: 'https://git.example.org/acme/shop.git' }] })
export type CreateRepositoryInput = z.output<typeof CreateRepositoryInput>

export const UpdateRepositoryInput = z
  .object({
    name: name.optional(),
    description: description.nullish(),
    default_branch: branch
      .nullish()
      .describe("Base of runs without `base_ref`; null: the repository's own default branch"),
    archived: z.boolean().optional().describe('Whether it rejects new runs'),
    visibility: text(1, 50).nullish().describe('For information only'),
    language: text(1, 50).nullish().describe('For information only'),
    reasoning_effort: reasoningEffortInput.describe(
      "Reasoning effort of runs that do not set it; null: the organization's",
    ),
    review: reviewModeInput.describe(
      "Reviewer of the changes of runs that do not set it: `model`, or `rules` without model calls; null: the organization's",
    ),
    branch_prefix: branchPrefixInput.describe(
      "Beginning of the names of branches of its runs, for a server that accepts only such names: `run-{id}-{words}` follows it; null: the organization's",
    ),
    use_mcp_file: z
      .boolean()
      .optional()
      .describe(
        'Whether runs use the MCP servers that the `.mcp.json` of their base commit names. People with push access can change these programs and addresses',
      ),
    is_default: z.boolean().optional().describe('Whether runs that name no repository use it'),
  })
  .meta({ id: 'UpdateRepositoryInput', examples: [{ default_branch: 'develop', is_default: true }] })
export type UpdateRepositoryInput = z.output<typeof UpdateRepositoryInput>
