import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Play, ScanSearch } from 'lucide-react'
import { call } from '../../../api/client.ts'
import type { Repository } from '../../../api/queries.ts'
import { useRequest } from '../../../components/form/use-request.ts'
import { useReadOnlyReason } from '../../../components/permission.ts'
import { SetupOutput } from '../../../components/setup/setup-output.tsx'
import { visible } from '../../../text/visible.ts'
import { Button } from '../../../ui/button.tsx'
import { Notice } from '../../../ui/notice.tsx'
import { detectionQuery } from '../repository-queries.ts'
import { useRepository } from '../use-repository.ts'

/**
 * A run that ends after its setup: its script has only an answer, so that no model is called and nothing is
 * pushed.
 */
const trialOf = ({ id, full_name }: Repository) => ({
  repo_id: id,
  model: 'scripted/playbook',
  title: `Try the setup of ${full_name}`.slice(0, 200).toWellFormed(),
  prompt: 'Try the setup commands.\n\n```playbook\n- answer: The setup has ended.\n```\n',
  auto_create_pr: false,
  tags: ['setup'],
})

type Props = { has_commands: boolean; changed: boolean }

/** Tries the saved commands, or detects commands, and shows the output of the run that does it. */
export function SetupTrial({ has_commands, changed }: Props) {
  const repository = useRepository()
  const { run } = useSearch({ from: '/app/repositories/$repoId/setup' })
  const navigate = useNavigate({ from: '/repositories/$repoId/setup' })
  const detected = useQuery(detectionQuery(repository.id)).data
  const read_only = useReadOnlyReason()
  const forbidden =
    read_only ?? (repository.archived ? 'The repository is archived and accepts no runs' : null)
  const show = (run: number) => navigate({ search: { run }, replace: true })
  const attempt = useRequest(
    async ({ rebuild }: { rebuild: boolean }) => {
      if (rebuild) await call('dropEnvironments', { params: { repo_id: repository.id } })
      return call('createAgentRun', { body: trialOf(repository) })
    },
    { on_done: ({ id }) => show(id) },
  )
  const detect = useRequest(
    () => call('generateSetupCommands', { body: { repo_id: repository.id, trigger_source: 'web' } }),
    { refresh: [detectionQuery(repository.id)], on_done: ({ agent_run_id }) => show(agent_run_id) },
  )
  const missing = changed ? 'Save the changes first' : has_commands ? null : 'There are no commands yet'
  const error = attempt.error ?? detect.error
  const shown = run ?? detected?.id
  if (read_only !== null && shown === undefined) return null
  return (
    <section aria-labelledby="setup-trial" className="min-w-0 space-y-3">
      <div>
        <h2 id="setup-trial" className="font-semibold">
          Dry run
        </h2>
        {read_only === null && (
          <p className="mt-1 text-muted">
            Try the saved commands in a new sandbox, or let the service read the repository, detect commands
            and verify them with its tests. Nothing is pushed. Verified commands are saved for a repository
            that never had any.
          </p>
        )}
      </div>
      {read_only === null && (
        <div className="flex flex-wrap gap-2">
          <Button
            reason={forbidden ?? missing}
            busy={attempt.isPending}
            onClick={() => attempt.mutate({ rebuild: false })}
          >
            <Play aria-hidden className="size-3.5" /> Try commands
          </Button>
          <Button reason={forbidden} busy={detect.isPending} onClick={() => detect.mutate()}>
            <ScanSearch aria-hidden className="size-4" /> Detect commands
          </Button>
        </div>
      )}
      {error && <Notice tone="bad">{visible(error.message)}</Notice>}
      {shown !== undefined && (
        <SetupOutput
          key={shown}
          id={shown}
          repo_id={repository.id}
          rebuild={
            (forbidden ?? missing) === null && !attempt.isPending
              ? () => attempt.mutate({ rebuild: true })
              : null
          }
        />
      )}
    </section>
  )
}
