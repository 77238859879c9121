import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ReasoningEffort } from '../../../../src/contract/reasoning-efforts.ts'
import type { ReviewMode } from '../../../../src/contract/review-modes.ts'
import type { optionalTools } from '../../../../src/contract/runs/action-tools.ts'
import type { DryRun } from '../../../../src/contract/runs/dry-run.ts'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { SAMPLE_PROMPT } from '../../../../src/core/repositories/sample.ts'
import { fieldMessages } from '../../api/api-error.ts'
import { call } from '../../api/client.ts'
import {
  currentOrganizationQuery,
  modelsQuery,
  organizationsQuery,
  repositoriesQuery,
} from '../../api/queries.ts'
import type { NewRunSearch } from '../../search-params.ts'
import { useDraft } from '../../ui/draft.ts'
import { useReadOnlyReason } from '../permission.ts'
import { budget_fields, budgetOf, no_budget } from './fields/budget-fields.tsx'

const empty = {
  base_ref: '',
  model: '',
  agent_type: '',
  reasoning_effort: null as ReasoningEffort | null,
  title: '',
  tags: [] as string[],
  review: null as ReviewMode | null,
  tools_off: [] as string[],
  budget: no_budget,
  open_pr: null as boolean | null,
}

type NewRunDraft = typeof empty & { prompt: string; repo_id: number | null }

/** Fields that show their own problems. Any other problem is shown below the form. */
const shown = new Set([
  ...[
    'prompt',
    'repo_id',
    'base_ref',
    'model',
    'agent_type',
    'reasoning_effort',
    'review',
    'title',
    'tags',
    'tools_off',
    'images',
  ],
  ...budget_fields,
])

const bodyOf = (draft: NewRunDraft, images: string[], repository: { id: number } | undefined) => ({
  prompt: draft.prompt,
  images: images.length === 0 ? null : images,
  repo_id: repository?.id,
  base_ref: draft.base_ref.trim() || null,
  model: draft.model || null,
  agent_type: draft.agent_type || null,
  reasoning_effort: draft.reasoning_effort,
  review: draft.review,
  title: draft.title.trim() || null,
  tags: draft.tags,
  tools_off: draft.tools_off as typeof optionalTools,
  budget: budgetOf(draft.budget),
  auto_create_pr: draft.open_pr,
})

/** The message names its field, beside which it is shown. */
const withoutName = (field: string, detail: string) =>
  detail.startsWith(`${field}: `) ? detail.slice(field.length + 2) : detail

const blank: NewRunDraft = { ...empty, prompt: '', repo_id: null }

/**
 * The draft that was left, with the values of the address. Of what was stored, only values of the right type
 * count.
 */
function restored(stored: unknown, { sample, repo }: NewRunSearch): NewRunDraft {
  const left: Record<string, unknown> = typeof stored === 'object' && stored !== null ? { ...stored } : {}
  const fits = (key: string, value: unknown) =>
    value === null || Array.isArray(value) || typeof left[key] === typeof value
  const kept = Object.fromEntries(
    Object.entries(blank).map(([key, value]) => [key, key in left && fits(key, value) ? left[key] : value]),
  )
  const draft = kept as NewRunDraft
  return { ...draft, prompt: sample ? SAMPLE_PROMPT : draft.prompt, repo_id: repo ?? draft.repo_id }
}

/**
 * The draft of a new run, with the defaults that the service would choose. `search`: the sample or a
 * repository from the address.
 */
export function useNewRun(search: NewRunSearch, onCreated: (run: AgentRun) => unknown) {
  const repositories = useQuery(repositoriesQuery)
  const models = useQuery(modelsQuery).data
  const current = useQuery(currentOrganizationQuery).data
  const organization = useQuery(organizationsQuery).data?.items.find(({ id }) => id === current)
  const forbidden = useReadOnlyReason()
  const { value: draft, set: setDraft, drop } = useDraft('new-run', stored => restored(stored, search))

  // Not part of the draft: a tab keeps about 5 MB.
  const [images, setImages] = useState<string[]>([])

  const choices = repositories.data?.filter(({ archived }) => !archived)
  const sample = search.sample && choices?.find(repository => repository.sample)
  const fallback = choices?.find(({ is_default }) => is_default) ?? choices?.[0]
  const repository = choices?.find(({ id }) => id === draft.repo_id) ?? (sample || fallback)

  const create = useMutation({
    mutationFn: () => call('createAgentRun', { body: bodyOf(draft, images, repository) }),
    onSuccess: run => {
      drop()
      return onCreated(run)
    },
  })
  const check = useMutation({
    mutationFn: () => call('dryRunAgentRun', { body: bodyOf(draft, images, repository) }),
  })
  const problems = { ...blockingProblems(check.data), ...fieldMessages(create.error ?? check.error) }
  const names = Object.keys(problems)
  const reason = forbidden ?? (draft.prompt.trim() === '' ? 'Describe the task first' : null)
  // A dry run describes the draft as it was.
  const changeImages = (change: (old: string[]) => string[]) => {
    check.reset()
    setImages(change)
  }
  return {
    draft,
    images,
    repositories,
    choices,
    repository,
    create,
    check,
    problems,
    reason,
    forbidden,
    shown,
    addImages: (added: string[]) => changeImages(old => [...old, ...added]),
    removeImage: (index: number) => changeImages(old => old.filter((_image, at) => at !== index)),
    set(change: Partial<NewRunDraft>) {
      check.reset()
      setDraft(old => ({ ...old, ...change }))
    },
    default_model: models?.default_model ?? null,
    pull_request: draft.open_pr ?? organization?.settings.enable_pr_creation ?? true,
    /** Whether every problem is shown at its field. */
    all_shown: names.length > 0 && names.every(name => shown.has(name)),
    submit() {
      if (reason || create.isPending) return
      check.reset()
      create.mutate()
    },
    /** Reports what the service would do with the draft, without a run. */
    dryRun() {
      if (reason || check.isPending) return
      create.reset()
      check.mutate()
    },
  }
}

/** Returns the messages of a dry run by field. */
function blockingProblems(dry_run: DryRun | undefined): Record<string, string> {
  const of_fields = dry_run?.blocking_problems.flatMap(({ field, detail }) =>
    field === null ? [] : [[field, withoutName(field, detail)]],
  )
  return Object.fromEntries(of_fields ?? [])
}

export type NewRun = ReturnType<typeof useNewRun>
