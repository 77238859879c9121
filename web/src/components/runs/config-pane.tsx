import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { fieldMessages } from '../../api/api-error.ts'
import { sourceNames } from '../../api/names.ts'
import { agentName } from '../../text/agent-name.ts'
import { moment } from '../../text/format.ts'
import { visible } from '../../text/visible.ts'
import { isRecorded } from '../../trace/recorded.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Input, Switch } from '../../ui/field.tsx'
import { ApiForm } from '../form/api-form.tsx'
import { useReadOnlyReason } from '../permission.ts'
import { CostSection } from './cost-section.tsx'
import { BudgetFields, budget_fields, budgetOf, draftOf } from './fields/budget-fields.tsx'
import { EffortField } from './fields/effort-field.tsx'
import { ModelField } from './fields/model-field.tsx'
import { ReviewField } from './fields/review-field.tsx'
import { TagField } from './fields/tag-field.tsx'
import { RecoverySection } from './recovery-section.tsx'
import { useRunActions } from './run-actions.ts'
import { StartupSection } from './startup-section.tsx'

type Draft = Pick<AgentRun, 'title' | 'tags' | 'archived' | 'model' | 'reasoning_effort' | 'review'> & {
  budget: ReturnType<typeof draftOf>
}

const draft = (run: AgentRun): Draft => ({
  title: run.title,
  tags: run.tags,
  archived: run.archived,
  model: run.model,
  reasoning_effort: run.reasoning_effort,
  review: run.review,
  budget: draftOf(run.budget),
})

const fields = ['title', 'tags', 'model', 'reasoning_effort', 'review', ...budget_fields]

/** The configuration of a run, its details, and the reports of its cost, recovery and startup. */
export default function ConfigPane({ run }: { run: AgentRun }) {
  return (
    <>
      <div className="space-y-4 p-4">
        <ConfigForm run={run} />
        <RunDetails run={run} />
      </div>
      <CostSection run={run} />
      <RecoverySection run={run} />
      <StartupSection run={run} />
    </>
  )
}

/** The editable fields of a run: names at once, model, effort, review and budget for its next turn. */
function ConfigForm({ run }: { run: AgentRun }) {
  const { update } = useRunActions(run)
  // Only fields that were edited here override the live state of the run.
  const [touched, setTouched] = useState<Partial<Draft>>({})
  const now = { ...draft(run), ...touched }
  const set = (change: Partial<Draft>) => setTouched(old => ({ ...old, ...change }))
  const problems = fieldMessages(update.error)
  const changed = Object.keys(touched).length > 0
  const save = () => {
    const { budget, title, ...rest } = touched
    update.mutate(
      {
        ...rest,
        ...(title === undefined ? {} : { title: title.trim() }),
        ...(budget ? { budget: budgetOf(budget) } : {}),
      },
      { onSuccess: () => setTouched({}) },
    )
  }
  return (
    <ApiForm
      label="Configuration"
      request={{ isPending: update.isPending, error: update.error, mutate: save }}
      fields={fields}
      forbidden={useReadOnlyReason()}
      changed={changed}
      submit="Save"
      note={<SaveNote saved={update.isSuccess && !changed} discard={changed ? () => setTouched({}) : null} />}
    >
      <Field label="Title" problem={problems.title}>
        {props => (
          <Input
            {...props}
            value={now.title}
            maxLength={200}
            onChange={event => set({ title: event.target.value })}
          />
        )}
      </Field>
      <TagField tags={now.tags} on_change={tags => set({ tags })} problem={problems.tags} />
      <Switch
        label="Archived: not in the default list"
        checked={now.archived}
        onChange={event => set({ archived: event.target.checked })}
      />
      {!isRecorded(run) && (
        <>
          <ModelField
            label="Model of the next turn"
            value={now.model}
            on_change={model => set({ model })}
            problem={problems.model}
          />
          <EffortField
            value={now.reasoning_effort}
            on_change={reasoning_effort => set({ reasoning_effort })}
            problem={problems.reasoning_effort}
          />
          <ReviewField value={now.review} on_change={review => set({ review })} problem={problems.review} />
          <BudgetFields draft={now.budget} on_change={budget => set({ budget })} problems={problems} />
        </>
      )}
    </ApiForm>
  )
}

const SaveNote = ({ saved, discard }: { saved: boolean; discard: (() => void) | null }) => (
  <>
    {discard && (
      <Button variant="quiet" onClick={discard}>
        Discard
      </Button>
    )}
    <span role="status" className="text-ok text-xs">
      {saved && 'Saved'}
    </span>
  </>
)

function RunDetails({ run }: { run: AgentRun }) {
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 border-line border-t pt-3 text-xs">
      <Row name="Run">{run.id}</Row>
      <Row name="Agent">{agentName(run.agent_type)}</Row>
      {run.tools_off.length > 0 && <Row name="Tools off">{visible(run.tools_off.join(', '))}</Row>}
      <Row name="Source">{sourceNames[run.source_type]}</Row>
      {run.parent_run_id !== null && (
        <Row name="Parent run">
          <Link
            to="/agent/trace/$id"
            params={{ id: String(run.parent_run_id) }}
            className="text-accent hover:underline"
          >
            #{run.parent_run_id}
          </Link>
          {run.forked_at_seq !== null && `, forked at entry ${run.forked_at_seq}`}
        </Row>
      )}
      <Row name="Created">{moment(run.created_at)}</Row>
      <Row name="Turn">{run.turn}</Row>
      {run.base_sha && (
        <Row name="Base">
          <code className="font-mono">{run.base_sha.slice(0, 12)}</code>
        </Row>
      )}
      {run.deadline_at && !run.terminal && <Row name="Deadline">{moment(run.deadline_at)}</Row>}
    </dl>
  )
}

const Row = ({ name, children }: { name: string; children: React.ReactNode }) => (
  <>
    <dt className="text-faint">{name}</dt>
    <dd className="text-muted [overflow-wrap:anywhere]">{children}</dd>
  </>
)
