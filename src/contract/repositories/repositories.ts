import { z } from 'zod'
import { limits } from '../limits.ts'
import { pageOf } from '../page.ts'
import { ReasoningEffort, reasoningEffortInput } from '../reasoning-effort.ts'
import { ReviewMode, reviewModeInput } from '../review-mode.ts'
import { text } from '../text.ts'

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
    default_branch: z.string().nullable().describe('Default base of runs without `base_ref`; null until it was detected'),
    reasoning_effort: ReasoningEffort.nullable().describe("How much models think in its runs; null: as the organization's"),
    review: ReviewMode.nullable().describe("Who reviews the changes of its runs: `model` or `rules`; null: as the organization's"),
    is_default: z.boolean().describe('Used by runs that name no repository'),
    sample: z.boolean().describe('The small sample repository of the first start'),
  })
  .meta({
    id: 'RepoResponse',
    examples: [
      {
        ...{ id: 1, name: 'shop', full_name: 'acme/shop', description: null, github_id: '', organization_id: 1, visibility: null },
        ...{ archived: false, setup_status: 'NOT_SETUP', language: null, url: 'https://git.example.org/acme/shop.git' },
        ...{ default_branch: 'main', reasoning_effort: null, review: null, is_default: true, sample: false },
      },
    ],
  })

export const RepositoryPage = pageOf(Repository).meta({ id: 'PageOfRepository' })

const name = text(1, limits.name_chars, { trim: true }).describe('Name to show')
const description = text(0, limits.description_chars, { trim: true }).describe('What it is, in a line')
const branch = text(1, 255).describe('Where runs without `base_ref` start')

export const CreateRepositoryInput = z
  .object({
    url: text(1, limits.repository_url_chars).describe('https or ssh, without a password; a local path only where the operator allows it'),
    name: name.nullish().describe('Name to show; absent: the last part of the address'),
    default_branch: branch.nullish().describe("Where runs without `base_ref` start; absent: the repository's own default branch"),
    description: description.nullish(),
  })
  .meta({ id: 'CreateRepositoryInput', examples: [{ url: 'https://git.example.org/acme/shop.git' }] })
export type CreateRepositoryInput = z.output<typeof CreateRepositoryInput>

export const UpdateRepositoryInput = z
  .object({
    name: name.optional(),
    description: description.nullish(),
    default_branch: branch.nullish().describe("Where runs without `base_ref` start; null: the repository's own default branch"),
    archived: z.boolean().optional().describe('Whether it takes no more runs'),
    visibility: text(1, 50).nullish().describe('For information only'),
    language: text(1, 50).nullish().describe('For information only'),
    reasoning_effort: reasoningEffortInput.describe("How much models think in runs that do not say it; null: as the organization's"),
    review: reviewModeInput.describe(
      "Who reviews the change of runs that do not say it: `model`, or `rules` without model calls; null: as the organization's",
    ),
    is_default: z.boolean().optional().describe('Whether runs that name no repository take it'),
  })
  .meta({ id: 'UpdateRepositoryInput', examples: [{ default_branch: 'develop', is_default: true }] })
export type UpdateRepositoryInput = z.output<typeof UpdateRepositoryInput>
