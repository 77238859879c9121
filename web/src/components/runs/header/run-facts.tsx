import { Clock, Coins, FolderGit2, GitBranch, GitPullRequest, Hash } from 'lucide-react'
import { type ReactNode, useMemo } from 'react'
import type { AgentRun } from '../../../../../src/contract/runs/runs.ts'
import { agentName } from '../../../text/agent-name.ts'
import { compact, duration, money, plural } from '../../../text/format.ts'
import { visible } from '../../../text/visible.ts'
import { useNow } from '../../../ui/now.ts'
import { SafeLink } from '../../safe-link.tsx'
import { isScripted, ModelBadge } from '../model-badge.tsx'
import { activeClock, hasWorker, tokens } from '../run-numbers.ts'

/**
 * Repository, branch, pull request, model, time, tokens and cost of a run in one line. While `live` is false,
 * the time does not change.
 */
export function RunFacts({
  run,
  repository,
  live,
}: {
  run: AgentRun
  repository: string | null
  live: boolean
}) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: what happened without a connection is known from the next report only
  const clock = useMemo(activeClock, [live])
  const time = clock(run, useNow(live && hasWorker(run)))
  const branch = run.branch ?? run.base_ref
  const pull_request = run.github_pull_requests.at(-1)
  const { input_tokens, output_tokens, cached_tokens, cached_share, cost_usd, estimated_calls } = run.usage
  return (
    <>
      {repository && (
        <Fact icon={<FolderGit2 />} name="Repository">
          {visible(repository)}
        </Fact>
      )}
      {branch && (
        <Fact icon={<GitBranch />} name={run.branch ? 'Branch' : 'Started from'}>
          <span className="font-mono text-2xs">{visible(branch)}</span>
        </Fact>
      )}
      {pull_request && (
        <Fact icon={<GitPullRequest />} name="Pull request">
          <SafeLink href={pull_request.url} className="underline decoration-accent/50 underline-offset-2">
            <bdi>#{pull_request.number}</bdi>
          </SafeLink>{' '}
          {pull_request.state}
        </Fact>
      )}
      <span
        title={`${agentName(run.agent_type)} agent, model ${visible(run.model)}`}
        className="inline-flex items-center gap-1.5"
      >
        <ModelBadge model={run.model} />
        {isScripted(run.model) && (
          <span className="font-mono text-2xs text-faint max-sm:hidden">{visible(run.model)}</span>
        )}
      </span>
      {time !== null && (
        <Fact icon={<Clock />} name="Active time">
          <span className="tabular">{duration(time)}</span>
        </Fact>
      )}
      {tokens(run) > 0 && (
        <Fact
          icon={<Hash />}
          name={`Tokens: ${input_tokens} in, of them ${cached_tokens} cached, ${output_tokens} out${estimated_calls === 0 ? '' : `; ${plural(estimated_calls, 'call')} estimated`}`}
        >
          <span className="tabular">
            {estimated_calls > 0 && '≈ '}
            {compact(tokens(run))} tokens
            {cached_share !== null && cached_share > 0 && `, ${Math.round(cached_share * 100)} % cached`}
          </span>
        </Fact>
      )}
      <Fact icon={<Coins />} name={cost_usd === null ? 'The price of this model is not known' : 'Cost'}>
        <span className="tabular">
          {estimated_calls > 0 && cost_usd !== null && '≈ '}
          {money(cost_usd)}
        </span>
      </Fact>
    </>
  )
}

const Fact = ({ icon, name, children }: { icon: ReactNode; name: string; children: ReactNode }) => (
  <span
    title={name}
    className="inline-flex min-w-0 items-center gap-1 [&>svg]:size-3.5 [&>svg]:shrink-0 [&>svg]:text-faint"
  >
    {icon}
    <span className="sr-only">{name}: </span>
    <span className="min-w-0 truncate">{children}</span>
  </span>
)
