import { useNavigate, useSearch } from '@tanstack/react-router'
import { Sparkles } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { SAMPLE_PROMPT } from '../../../../src/core/repositories/sample.ts'
import { command_key } from '../../components/frame/keys.ts'
import { Page } from '../../components/page.tsx'
import { PageProblem } from '../../components/page-problem.tsx'
import { DryRunResult } from '../../components/runs/dry-run-result.tsx'
import { AgentField } from '../../components/runs/fields/agent-field.tsx'
import { BudgetFields } from '../../components/runs/fields/budget-fields.tsx'
import { EffortField } from '../../components/runs/fields/effort-field.tsx'
import { ModelField } from '../../components/runs/fields/model-field.tsx'
import { ReviewField } from '../../components/runs/fields/review-field.tsx'
import { TagField } from '../../components/runs/fields/tag-field.tsx'
import { ToolsField } from '../../components/runs/fields/tools-field.tsx'
import { isScripted } from '../../components/runs/model-badge.tsx'
import { PromptImages } from '../../components/runs/prompt-images.tsx'
import { ScriptedNote } from '../../components/runs/scripted-note.tsx'
import { type NewRun, useNewRun } from '../../components/runs/use-new-run.ts'
import { visible } from '../../text/visible.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Input, Select, Switch, TextArea } from '../../ui/field.tsx'
import { Forbidden, Notice } from '../../ui/notice.tsx'

/** The fields that are always shown. */
const main_fields = new Set(['prompt', 'repo_id', 'base_ref', 'model'])

export function NewRunPage() {
  const navigate = useNavigate()
  const form = useNewRun(useSearch({ from: '/app/new' }), run =>
    navigate({ to: '/agent/trace/$id', params: { id: String(run.id) } }),
  )
  const { draft, repositories, create, check, all_shown } = form
  const refusal = create.error ?? check.error ?? check.data
  const element = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (refusal) element.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [refusal])
  if (form.forbidden !== null)
    return (
      <Page heading="New run" width="narrow">
        <Forbidden>{form.forbidden}.</Forbidden>
      </Page>
    )
  if (repositories.isError)
    return <PageProblem error={repositories.error} retry={() => repositories.refetch()} />
  return (
    <Page heading="New run" width="narrow">
      <form
        ref={element}
        className="space-y-4"
        onSubmit={event => {
          event.preventDefault()
          form.submit()
        }}
      >
        <PromptField form={form} />
        {isScripted(draft.model || form.default_model || '') && (
          <ScriptedNote is_default={draft.model === ''} />
        )}
        <TargetFields form={form} />
        <Advanced form={form} />
        {check.data && <DryRunResult result={check.data} shown={form.shown} />}
        {refusal instanceof Error && !all_shown && <Notice tone="bad">{visible(refusal.message)}</Notice>}
        <div className="sticky bottom-0 flex items-center gap-3 border-line border-t bg-canvas py-3">
          <Button
            type="submit"
            variant="primary"
            className="px-4!"
            reason={form.reason}
            busy={create.isPending}
          >
            {create.isPending ? 'Starting…' : 'Start run'}
          </Button>
          <Button
            reason={form.reason}
            busy={check.isPending}
            hint="Shows what the run would do, without starting it"
            onClick={form.dryRun}
          >
            Dry run
          </Button>
          {all_shown && <span className="text-bad text-xs">See the marked fields.</span>}
        </div>
      </form>
    </Page>
  )
}

const prompt_hint = (
  <>
    Images can be pasted and dropped here.{' '}
    <span className="pointer-coarse:hidden">{command_key}+Enter starts the run.</span>
  </>
)

function PromptField({ form }: { form: NewRun }) {
  const { draft, images, set, addImages, removeImage, problems, repository, submit } = form
  return (
    <PromptImages images={images} on_add={addImages} on_remove={removeImage} problem={problems.images}>
      <Field label="Describe the task" problem={problems.prompt} hint={prompt_hint}>
        {props => (
          <TextArea
            {...props}
            name="prompt"
            rows={7}
            value={draft.prompt}
            spellCheck={false}
            autoFocus
            className="font-mono text-xs leading-5"
            onChange={event => set({ prompt: event.target.value })}
            onKeyDown={event => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit()
            }}
          />
        )}
      </Field>
      {repository?.sample && draft.prompt !== SAMPLE_PROMPT && (
        <Button className="mt-1.5" onClick={() => set({ prompt: SAMPLE_PROMPT })}>
          <Sparkles aria-hidden className="size-3.5" /> Use the sample playbook
        </Button>
      )}
    </PromptImages>
  )
}

/** Where the run works and with which model. */
function TargetFields({
  form: { draft, set, problems, repository, choices, default_model },
}: {
  form: NewRun
}) {
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <Field
        label="Repository"
        problem={problems.repo_id}
        hint={choices?.length === 0 ? 'No repository is registered yet.' : undefined}
      >
        {props => (
          <Select
            {...props}
            name="repository"
            value={repository?.id ?? ''}
            onChange={event => set({ repo_id: Number(event.target.value) })}
          >
            {choices?.map(item => (
              <option key={item.id} value={item.id}>
                {visible(item.full_name)}
                {item.sample ? ' (sample)' : ''}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field label="Base branch" problem={problems.base_ref}>
        {props => (
          <Input
            {...props}
            name="base_ref"
            value={draft.base_ref}
            className="font-mono text-xs"
            placeholder={visible(repository?.default_branch ?? 'default branch')}
            onChange={event => set({ base_ref: event.target.value })}
          />
        )}
      </Field>
      <ModelField
        label="Model"
        value={draft.model}
        on_change={model => set({ model })}
        problem={problems.model}
        default_label={default_model === null ? 'Default' : `Default (${visible(default_model)})`}
      />
    </div>
  )
}

/** What the service has a default for. Open when something in it is set, or refused. */
function Advanced({ form: { draft, set, problems, pull_request } }: { form: NewRun }) {
  const { title, agent_type, reasoning_effort, review, tags, tools_off, budget, open_pr } = draft
  const texts = [title, agent_type, reasoning_effort ?? '', review ?? '', ...Object.values(budget)]
  const used = texts.some(text => text !== '') || tags.length > 0 || tools_off.length > 0 || open_pr !== null
  const refused = Object.keys(problems).some(name => !main_fields.has(name))
  const [toggled, setToggled] = useState<boolean | null>(null)
  return (
    <details open={refused || (toggled ?? used)} onToggle={event => setToggled(event.currentTarget.open)}>
      <summary className="cursor-pointer font-medium text-muted text-sm">Advanced</summary>
      <div className="mt-3 space-y-4">
        <div className="grid gap-3 sm:grid-cols-2">
          <Field label="Title" problem={problems.title}>
            {props => (
              <Input
                {...props}
                name="title"
                value={draft.title}
                maxLength={200}
                placeholder="Derived from the prompt"
                onChange={event => set({ title: event.target.value })}
              />
            )}
          </Field>
          <AgentField
            value={agent_type}
            on_change={agent_type => set({ agent_type })}
            problem={problems.agent_type}
          />
          <EffortField
            value={draft.reasoning_effort}
            on_change={reasoning_effort => set({ reasoning_effort })}
            problem={problems.reasoning_effort}
          />
          <ReviewField value={draft.review} on_change={review => set({ review })} problem={problems.review} />
        </div>
        <TagField tags={tags} on_change={tags => set({ tags })} problem={problems.tags} />
        <ToolsField
          tools_off={tools_off}
          on_change={tools_off => set({ tools_off })}
          problem={problems.tools_off}
        />
        <BudgetFields draft={budget} on_change={budget => set({ budget })} problems={problems} />
        <Switch
          label="Open a pull request with the change"
          checked={pull_request}
          onChange={event => set({ open_pr: event.target.checked })}
        />
      </div>
    </details>
  )
}
