import { type ReasoningEffort, reasoning_efforts } from '../../../../contract/reasoning-efforts.ts'
import { type ReviewMode, review_modes } from '../../../../contract/review-modes.ts'
import { optionalTools } from '../../../../contract/runs/action-tools.ts'
import type { DryRun } from '../../../sdk/operations.ts'
import { budget_options, budgetOf } from '../../budget.ts'
import { command, printResult } from '../../command.ts'
import { exit } from '../../exit.ts'
import { duration } from '../../format-run.ts'
import { firstLine } from '../../plain-text.ts'
import { columns } from '../../printer.ts'
import { promptText } from '../../prompt-text.ts'
import { repositoryId } from '../../repository.ts'
import { watching, watchRun } from '../../watch-run.ts'

export const run = command({
  name: 'run',
  summary: 'start an agent run',
  usage: ['PROMPT|-'],
  words: [1, 1],
  options: {
    repo: { type: 'string', value: 'ID|NAME', about: "repository, by default the organization's" },
    model: { type: 'string', value: 'PROVIDER/MODEL', about: 'model' },
    agent: { type: 'string', value: 'NAME', about: 'agent, by default the built-in one' },
    effort: {
      type: 'string',
      value: 'EFFORT',
      choices: reasoning_efforts,
      about: 'how much the model thinks',
    },
    review: {
      type: 'string',
      value: 'MODE',
      choices: review_modes,
      about: 'who reviews the change: a model, or rules alone',
    },
    'tool-off': {
      type: 'string',
      multiple: true,
      value: 'TOOL',
      choices: optionalTools,
      about: 'tool that the agent may not use; may be given several times',
    },
    base: { type: 'string', value: 'REF', about: 'branch, tag or commit to start from' },
    title: { type: 'string', value: 'TEXT', about: 'title, by default derived from the prompt' },
    tag: { type: 'string', multiple: true, value: 'TAG', about: 'tag; may be given several times' },
    'no-pr': { type: 'boolean', about: 'push the branch without creating a pull request' },
    ...budget_options,
    'idempotency-key': {
      type: 'string',
      value: 'KEY',
      about: 'returns the existing run if the key was used before',
    },
    'dry-run': {
      type: 'boolean',
      about: 'start nothing; show what would be started and which problems would prevent it',
    },
    ...watching,
  },
  notes: [
    'With - the prompt is read from standard input.',
    'With --follow or --wait the exit code is the outcome: 0 completed; 1 failed, cancelled, paused or waiting for you;',
    '5 completed, but not everything was done: the status names the reason, such as push_refused.',
  ],
  async run(given) {
    const { values, words, signal } = given
    const prompt = await promptText(given, words[0])
    const chosen = {
      prompt,
      model: values.model,
      agent_type: values.agent,
      reasoning_effort: values.effort as ReasoningEffort | undefined,
      review: values.review as ReviewMode | undefined,
      tools_off: values['tool-off'] as typeof optionalTools | undefined,
      base_ref: values.base,
      title: values.title,
      tags: values.tag,
      auto_create_pr: values['no-pr'] ? false : undefined,
      budget: budgetOf(values),
    }
    const client = given.client()
    const repo_id = values.repo === undefined ? undefined : await repositoryId(client, values.repo, signal)
    const input = { ...chosen, repo_id }
    if (values['dry-run']) {
      const response = await client.runs.dryRun(input, { signal })
      printResult(given, response, () => rehearsal(response))
      return response.blocking_problems.length === 0 ? exit.success : exit.failed
    }
    return watchRun(
      given,
      client.runs.create(input, { signal, idempotency_key: values['idempotency-key'] }),
      () => 0,
    )
  },
})

function setupText({ setup }: DryRun['environment']): string {
  if (setup === null || setup.state === 'none') return 'none'
  const commands = `${setup.commands} ${setup.commands === 1 ? 'command' : 'commands'}`
  if (setup.state === 'to_be_prepared') return `${commands} to run first`
  return `prepared by an earlier run at ${setup.made_at}${setup.at_base_sha ? '' : ', for another commit'}`
}

function startText(startups: DryRun['environment']['startups']): string {
  const [median, p95] = [startups?.p50.first_action_ms ?? null, startups?.p95.first_action_ms ?? null]
  if (median === null || p95 === null) return 'not known yet'
  return `first action after ${duration(median)}, ${duration(p95)} in 95 of 100 runs`
}

/** Describes what a create would do, problems first. */
function rehearsal(response: DryRun): string[] {
  const {
    repository,
    base_ref,
    base_sha,
    model,
    reasoning_effort,
    review,
    agent_type,
    environment,
    limits_left,
  } = response
  const limits = Object.entries(limits_left).map(
    ([name, { limit, remaining }]) => `${name} ${remaining} of ${limit}`,
  )
  const facts = [
    ...response.blocking_problems.map(({ code, detail }) => ['problem', `${code}: ${detail}`]),
    ...response.notices.map(({ code, detail }) => ['notice', `${code}: ${detail}`]),
    ['repository', repository === null ? 'none' : `${repository.id} ${repository.full_name}`],
    ['base', [base_ref, base_sha?.slice(0, 12)].filter(Boolean).join(' at ') || 'not known yet'],
    ['model', `${model ?? 'none'}, ${reasoning_effort ?? 'default'} effort, agent ${agent_type ?? 'none'}`],
    [
      'review',
      review === 'rules' ? 'by rules alone' : review === 'model' ? 'by rules and a model' : 'default',
    ],
    ['sandbox', environment.sandbox ?? environment.blocked ?? 'none'],
    ['setup', setupText(environment)],
    ['checks', `${environment.checks}`],
    ['usual start', startText(environment.startups)],
    ['limits left', limits.length === 0 ? 'no limits' : limits.join(', ')],
  ]
  return columns(facts.map(([name = '', value = '']) => [name, firstLine(value, 2_000)]))
}
