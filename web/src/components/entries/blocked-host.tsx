import { useQuery } from '@tanstack/react-query'
import type { EgressRule } from '../../../../src/contract/organizations/egress.ts'
import { call } from '../../api/client.ts'
import { egressQuery, runQuery } from '../../api/queries.ts'
import { visible } from '../../text/visible.ts'
import { blockedHost } from '../../trace/blocked-host.ts'
import { textAt } from '../../trace/fields.ts'
import { Button } from '../../ui/button.tsx'
import { useRequest } from '../form/use-request.ts'
import { useRepositoryReason } from '../permission.ts'
import { PlainText } from '../plain-text.tsx'

type Props = { agent_run_id: number; input: unknown; output: unknown }

/** Why a request was blocked, and a button that allows its host for the repository. */
export function BlockedHost({ agent_run_id, input, output }: Props) {
  const rule = blockedHost(input, output)
  const why = textAt(output, 'why')
  const command = textAt(output, 'command')
  return (
    <div className="space-y-1.5 text-xs">
      {why && (
        <PlainText
          text={`${why}${command === null ? '' : `\n$ ${command}`}`}
          className="font-mono text-muted"
        />
      )}
      {rule && <AllowHost agent_run_id={agent_run_id} rule={rule} off={textAt(output, 'reason') === 'off'} />}
    </div>
  )
}

/**
 * `off`: egress was off when the request was refused; allowing a host then gives the repository an
 * allow-list.
 */
function AllowHost({ agent_run_id, rule, off }: { agent_run_id: number; rule: EgressRule; off: boolean }) {
  const run = useQuery(runQuery(agent_run_id)).data
  const forbidden = useRepositoryReason()
  const repo_id = run?.repo_id ?? null
  const known = useQuery({ ...egressQuery(repo_id ?? 0), enabled: repo_id !== null }).data
  const allow = useRequest(
    (repo_id: number) => call('allowRepositoryEgress', { params: { repo_id }, body: rule }),
    { stored: egressQuery(repo_id ?? 0) },
  )
  const at = `${visible(rule.host)}:${rule.port}`
  const covers = (other: EgressRule) =>
    other.host === rule.host && (other.port == null || other.port === rule.port)
  const listed = known?.agent.allow.some(
    other =>
      covers(other) && (other.methods == null || rule.methods?.every(name => other.methods?.includes(name))),
  )
  const allowed =
    allow.isSuccess || (listed && known?.agent.mode !== 'off' && (!off || known?.agent.mode === 'allowlist'))
  if (allowed) return <p className="text-ok">{at} is now allowed for this repository.</p>
  const reason =
    forbidden ??
    (run && repo_id === null ? 'This run has no repository: allow hosts for its organization instead' : null)
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Button
        reason={reason}
        busy={allow.isPending}
        onClick={() => repo_id !== null && allow.mutate(repo_id)}
      >
        Allow this host
      </Button>
      <span className="text-faint">
        Allows {at} for all runs of the repository
        {off && '. Egress is off: this turns it on for this host and the hosts that the organization allows'}
      </span>
      {allow.error && (
        <p role="alert" className="text-bad">
          {visible(allow.error.message)}
        </p>
      )}
    </div>
  )
}
