import { useQuery } from '@tanstack/react-query'
import { call } from '../../api/client.ts'
import { environmentsQuery } from '../../api/queries.ts'
import { ago, duration } from '../../text/format.ts'
import { visible } from '../../text/visible.ts'
import { Button } from '../../ui/button.tsx'
import { useNow } from '../../ui/now.ts'
import { useRequest } from '../form/use-request.ts'
import { useRepositoryReason } from '../permission.ts'

/** The environments of a repository, with a button that discards one. `used`: the one that this run uses. */
export function EnvironmentList({ repo_id, used }: { repo_id: number; used: number | null }) {
  const forbidden = useRepositoryReason()
  const now = useNow(true)
  const { data } = useQuery(environmentsQuery(repo_id))
  const drop = useRequest(
    (environment_id: number) => call('dropEnvironment', { params: { repo_id, environment_id } }),
    { settled: [environmentsQuery(repo_id)] },
  )
  if (!data || data.items.length === 0) return null
  return (
    <section aria-label="Environments" className="mt-3 text-xs">
      <h3 className="text-muted">Environments of this repository</h3>
      {drop.isError && (
        <p role="alert" className="mt-1 text-bad">
          {visible(drop.error.message)}
        </p>
      )}
      <ul className="mt-1 space-y-1">
        {data.items.map(item => (
          <li
            key={item.id}
            className="flex flex-wrap items-center gap-x-3 rounded-md border border-line px-2.5 py-1"
          >
            <span className={item.id === used ? 'font-medium text-ink' : 'text-muted'}>
              {item.id} · {visible(item.base_ref)}{' '}
              <code className="font-mono">{item.base_sha.slice(0, 8)}</code>
            </span>
            <span className="text-faint">
              {ago(item.made_at, now)} by run {item.made_by_run} · {(item.bytes / 1024 ** 2).toFixed(1)} MiB ·
              setup {duration(item.setup_ms)} · {item.uses} {item.uses === 1 ? 'run' : 'runs'}
            </span>
            <Button
              variant="quiet"
              className="ml-auto"
              reason={forbidden}
              busy={drop.isPending && drop.variables === item.id}
              hint="The next run executes the setup commands again"
              onClick={() => drop.mutate(item.id)}
            >
              Rebuild
            </Button>
          </li>
        ))}
      </ul>
    </section>
  )
}
