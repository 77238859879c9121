import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Sparkles } from 'lucide-react'
import { useState } from 'react'
import type { AgentRun } from '../../../src/contract/runs/runs.ts'
import { SAMPLE_PROMPT } from '../../../src/core/repositories/sample.ts'
import { fieldMessages } from '../api/api-error.ts'
import { call } from '../api/client.ts'
import { modelsQuery, organizationsQuery, repositoriesQuery } from '../api/queries.ts'
import { PageProblem } from '../components/page-problem.tsx'
import { useReadOnlyReason } from '../components/permission.ts'
import { BudgetFields, budgetOf, no_budget } from '../components/runs/budget-fields.tsx'
import { isScripted } from '../components/runs/model-badge.tsx'
import { ModelField } from '../components/runs/model-field.tsx'
import { ScriptedNote } from '../components/runs/scripted-note.tsx'
import { TagField } from '../components/runs/tag-field.tsx'
import { visible } from '../text/visible.ts'
import { Button } from '../ui/button.tsx'
import { Field, Input, Select, Switch, TextArea } from '../ui/field.tsx'
import { Notice } from '../ui/notice.tsx'

export function NewRunPage() {
  const { sample: asked_for_sample, repo } = useSearch({ from: '/app/new' })
  const navigate = useNavigate()
  const repositories = useQuery(repositoriesQuery)
  const models = useQuery(modelsQuery).data
  const organization = useQuery(organizationsQuery).data?.items[0]
  const forbidden = useReadOnlyReason()

  const choices = repositories.data?.filter(repository => !repository.archived)
  const sample = choices?.find(repository => repository.sample)
  const fallback = choices?.find(repository => repository.is_default) ?? choices?.[0]
  const [prompt, setPrompt] = useState(asked_for_sample ? SAMPLE_PROMPT : '')
  const [chosen_repo, setRepo] = useState<number | null>(repo ?? null)
  const [base_ref, setBaseRef] = useState('')
  const [model, setModel] = useState('')
  const [title, setTitle] = useState('')
  const [tags, setTags] = useState<string[]>([])
  const [budget, setBudget] = useState(no_budget)
  const [open_pr, setOpenPr] = useState<boolean | null>(null)

  const repository = choices?.find(({ id }) => id === chosen_repo) ?? (asked_for_sample ? sample : undefined) ?? fallback
  const used_model = model || models?.default_model || ''
  const pull_request = open_pr ?? organization?.settings.enable_pr_creation ?? true

  const create = useMutation({
    // Without `dry_run` the response is the run.
    mutationFn: () =>
      call('createAgentRun', {
        body: {
          prompt,
          repo_id: repository?.id,
          base_ref: base_ref.trim() || null,
          model: model || null,
          title: title.trim() || null,
          tags,
          budget: budgetOf(budget),
          auto_create_pr: open_pr,
        },
      }) as Promise<AgentRun>,
    onSuccess: run => navigate({ to: '/agent/trace/$id', params: { id: String(run.id) } }),
  })
  const problems = fieldMessages(create.error)
  const shown = [
    'prompt',
    'repo_id',
    'base_ref',
    'model',
    'title',
    'tags',
    'budget.max_cost_usd',
    'budget.max_steps',
    'budget.max_active_seconds',
  ]
  const all_shown = Object.keys(problems).length > 0 && Object.keys(problems).every(key => shown.includes(key))
  const reason = forbidden ?? (prompt.trim() === '' ? 'Describe the task first' : null)
  const submit = () => {
    if (!reason && !create.isPending) create.mutate()
  }

  if (repositories.isError) return <PageProblem error={repositories.error} retry={() => repositories.refetch()} />
  return (
    <div className="h-full scroll-pb-16 overflow-y-auto">
      <title>New run · Agent runs</title>
      <form
        className="mx-auto max-w-3xl space-y-4 px-4 pt-5"
        onSubmit={event => {
          event.preventDefault()
          submit()
        }}
      >
        <h1 className="text-xl font-semibold tracking-tight">New run</h1>
        <div>
          <Field label="What should the agent do?" problem={problems.prompt} hint="Ctrl+Enter starts the run.">
            {props => (
              <TextArea
                {...props}
                name="prompt"
                rows={12}
                value={prompt}
                spellCheck={false}
                autoFocus
                className="font-mono text-xs leading-5"
                onChange={event => setPrompt(event.target.value)}
                onKeyDown={event => {
                  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit()
                }}
              />
            )}
          </Field>
          {repository?.sample && prompt !== SAMPLE_PROMPT && (
            <Button className="mt-1.5" onClick={() => setPrompt(SAMPLE_PROMPT)}>
              <Sparkles aria-hidden className="size-3.5" /> Use the sample playbook
            </Button>
          )}
        </div>
        {isScripted(used_model) && <ScriptedNote is_default={model === ''} />}
        <div className="grid gap-3 sm:grid-cols-2">
          <Field
            label="Repository"
            problem={problems.repo_id}
            hint={choices?.length === 0 ? 'No repository is registered yet.' : undefined}
          >
            {props => (
              <Select {...props} name="repository" value={repository?.id ?? ''} onChange={event => setRepo(Number(event.target.value))}>
                {choices?.map(item => (
                  <option key={item.id} value={item.id}>
                    {visible(item.full_name)}
                    {item.sample ? ' (sample)' : ''}
                  </option>
                ))}
              </Select>
            )}
          </Field>
          <Field label="Start from" problem={problems.base_ref}>
            {props => (
              <Input
                {...props}
                name="base_ref"
                value={base_ref}
                className="font-mono text-xs"
                placeholder={visible(repository?.default_branch ?? 'default branch')}
                onChange={event => setBaseRef(event.target.value)}
              />
            )}
          </Field>
          <ModelField
            label="Model"
            value={model}
            on_change={setModel}
            problem={problems.model}
            default_label={models ? `Default (${visible(models.default_model)})` : 'Default'}
          />
          <Field label="Title" problem={problems.title}>
            {props => (
              <Input
                {...props}
                name="title"
                value={title}
                maxLength={200}
                placeholder="Derived from the prompt"
                onChange={event => setTitle(event.target.value)}
              />
            )}
          </Field>
        </div>
        <TagField tags={tags} on_change={setTags} problem={problems.tags} />
        <BudgetFields draft={budget} on_change={setBudget} problems={problems} />
        <Switch label="Open a pull request with the change" checked={pull_request} onChange={event => setOpenPr(event.target.checked)} />
        {create.isError && !all_shown && <Notice tone="bad">{visible(create.error.message)}</Notice>}
        <div className="sticky bottom-0 flex items-center gap-3 border-line border-t bg-canvas py-3">
          <Button type="submit" variant="primary" className="px-4!" reason={reason} busy={create.isPending}>
            {create.isPending ? 'Starting…' : 'Start run'}
          </Button>
          {all_shown && <span className="text-bad text-xs">See the marked fields.</span>}
        </div>
      </form>
    </div>
  )
}
