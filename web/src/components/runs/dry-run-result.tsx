import { CircleCheck } from 'lucide-react'
import type { DryRun } from '../../../../src/contract/runs/dry-run.ts'
import { ago, duration, plural } from '../../text/format.ts'
import { visible } from '../../text/visible.ts'
import { Notice } from '../../ui/notice.tsx'
import { Facts } from '../facts.tsx'

type Props = {
  result: DryRun
  /** The fields that show their own problems. */
  shown: ReadonlySet<string>
}

/** The bar with the buttons covers the end of the form. */
const show = (section: HTMLElement | null) => section?.scrollIntoView({ block: 'nearest' })

/**
 * What the service would do with a new run, and what prevents it. Problems of a field that is shown stand at
 * that field; the form explains scripted models itself.
 */
export function DryRunResult({ result, shown }: Props) {
  const { blocking_problems: problems, notices } = result
  return (
    <section ref={show} aria-label="Dry run" role="status" className="scroll-mb-16 space-y-2">
      {problems
        .filter(({ field }) => field === null || !shown.has(field))
        .map(({ code, detail }) => (
          <Notice key={`${code} ${detail}`} tone="bad">
            {visible(detail)}
          </Notice>
        ))}
      {notices
        .filter(({ code }) => code !== 'scripted_model')
        .map(({ code, detail }) => (
          <Notice key={code} tone="warn">
            {visible(detail)}
          </Notice>
        ))}
      <div className="rounded-lg border border-line bg-surface px-3.5 py-3">
        <h2 className="mb-2 flex items-center gap-1.5 font-medium">
          {problems.length === 0 && <CircleCheck aria-hidden className="size-4 text-ok" />}
          {problems.length === 0 ? 'This run can start' : 'This run cannot start yet'}
        </h2>
        <Facts facts={factsOf(result)} />
      </div>
    </section>
  )
}

function factsOf({
  repository,
  base_ref,
  base_sha,
  model,
  reasoning_effort,
  environment,
  limits_left,
}: DryRun) {
  const { sandbox, network, checks, startups } = environment
  const first_action = startups?.p50.first_action_ms ?? null
  const creations = limits_left.agent_creation
  return [
    ['Repository', repository && visible(repository.full_name)],
    ['Starts from', base_ref && `${visible(base_ref)}${base_sha ? `, commit ${base_sha.slice(0, 12)}` : ''}`],
    [
      'Model',
      model && `${visible(model)}${reasoning_effort ? `, reasoning effort ${reasoning_effort}` : ''}`,
    ],
    [
      'Sandbox',
      sandbox &&
        `${visible(sandbox)}, ${network === 'none' ? 'without network access' : 'with access to the allowed hosts'}`,
    ],
    ['Setup', setupText(environment.setup)],
    ['Checks', checks === 0 ? null : `${plural(checks, 'check')} of the change`],
    ['First action', first_action === null ? null : `usually after ${duration(first_action)}`],
    [
      'New runs left',
      creations
        ? `${creations.remaining} of ${creations.limit}, all again in ${creations.reset_seconds} s`
        : null,
    ],
  ] as const
}

function setupText(setup: DryRun['environment']['setup']): string | null {
  if (setup === null || setup.state === 'none') return null
  if (setup.state === 'to_be_prepared') return `${plural(setup.commands, 'command')} run first`
  const age = setup.made_at === null ? '' : ` ${ago(setup.made_at, Date.now())}`
  return `prepared${age}${setup.at_base_sha === false ? ', from another commit' : ''}`
}
