import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { Stethoscope } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { Sandbox } from '../../../../src/contract/repositories/sandboxes.ts'
import { call } from '../../api/client.ts'
import { repositoriesQuery } from '../../api/queries.ts'
import { AnalysisDialog } from '../../components/analysis-dialog.tsx'
import { Page } from '../../components/page.tsx'
import { PageProblem } from '../../components/page-problem.tsx'
import { useReadOnlyReason } from '../../components/permission.ts'
import { duration, moment } from '../../text/format.ts'
import { visible } from '../../text/visible.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Loading } from '../../ui/notice.tsx'
import { useNow } from '../../ui/now.ts'
import { SandboxEntries } from './sandbox-entries.tsx'
import { sandboxQuery } from './sandbox-queries.ts'
import { SandboxResources } from './sandbox-resources.tsx'
import { endReasons, stateTones, uptime } from './sandbox-text.ts'

/** One sandbox: what it is, what it used of its limits, and the trace entries about it. */
export function SandboxPage() {
  const { sandboxId } = useParams({ from: '/app/sandboxes/$sandboxId' })
  const id = /^\d{1,15}$/.test(sandboxId) ? Number(sandboxId) : null
  const sandbox = useQuery({ ...sandboxQuery(id ?? 0), enabled: id !== null })
  if (id === null) return <PageProblem error={null} what="sandbox" />
  if (sandbox.data) return <Found sandbox={sandbox.data} />
  if (sandbox.isError)
    return <PageProblem error={sandbox.error} retry={() => sandbox.refetch()} what="sandbox" />
  return <Loading label="Loading the sandbox" />
}

function Found({ sandbox }: { sandbox: Sandbox }) {
  const { id, kind, state, end_reason } = sandbox
  const note = (
    <span className="flex items-center gap-2">
      <Badge>{kind}</Badge>
      <span className={`font-medium text-xs ${stateTones[state]}`}>{state}</span>
      {end_reason !== null && <span className="text-faint text-xs">{endReasons[end_reason]}</span>}
    </span>
  )
  return (
    <Page heading={`Sandbox ${id}`} note={note} actions={<AnalyzeSandbox id={id} />}>
      <div className="grid items-start gap-x-6 gap-y-4 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <SandboxEntries sandbox={sandbox} />
        <div className="min-w-0 space-y-4 max-lg:row-start-1">
          <Facts sandbox={sandbox} />
          <SandboxResources sandbox={sandbox} />
        </div>
      </div>
    </Page>
  )
}

function AnalyzeSandbox({ id }: { id: number }) {
  const [open, setOpen] = useState(false)
  const forbidden = useReadOnlyReason()
  return (
    <>
      <Button reason={forbidden} onClick={() => setOpen(true)}>
        <Stethoscope aria-hidden className="size-3.5" /> Analyze logs
      </Button>
      <AnalysisDialog
        title={`Analysis of sandbox ${id}`}
        about="The analysis searches the logs of this sandbox for causes of failures."
        analyze={() => call('analyzeSandboxLogs', { params: { sandbox_id: id } })}
        open={open}
        on_close={() => setOpen(false)}
      />
    </>
  )
}

function Facts({ sandbox }: { sandbox: Sandbox }) {
  const { agent_run_id, first_seq, repo_id, driver, host, created_at, started_at, ended_at } = sandbox
  const now = useNow(true, ended_at === null ? 1000 : 60_000)
  const repository = useQuery(repositoriesQuery).data?.find(({ id }) => id === repo_id)
  const there = uptime(sandbox, now)
  return (
    <section aria-label="Facts" className="rounded-lg border border-line bg-surface px-3.5 py-3">
      <h2 className="sr-only">Facts</h2>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1">
        <Fact name="Run">
          <Link
            to="/agent/trace/$id"
            params={{ id: String(agent_run_id) }}
            hash={`e${first_seq}`}
            className="text-accent underline-offset-2 hover:underline"
          >
            #{agent_run_id}
          </Link>
        </Fact>
        {repository && (
          <Fact name="Repository">
            <Link
              to="/repositories/$repoId"
              params={{ repoId: String(repository.id) }}
              className="text-accent underline-offset-2 hover:underline"
            >
              {visible(repository.full_name)}
            </Link>
          </Fact>
        )}
        <Fact name="Driver">{visible(driver)}</Fact>
        <Fact name="Worker">{visible(host)}</Fact>
        <Fact name="Requested">{moment(created_at)}</Fact>
        <Fact name="Ready after">
          {started_at === null ? '–' : duration(Date.parse(started_at) - Date.parse(created_at))}
        </Fact>
        <Fact name="Uptime">{there === null ? '–' : duration(there)}</Fact>
      </dl>
    </section>
  )
}

const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <>
    <dt className="text-muted">{name}</dt>
    <dd className="tabular min-w-0 [overflow-wrap:anywhere]">{children}</dd>
  </>
)
