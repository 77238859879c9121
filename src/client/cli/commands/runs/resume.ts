import { type ReasoningEffort, reasoning_efforts } from '../../../../contract/reasoning-efforts.ts'
import { type ReviewMode, review_modes } from '../../../../contract/review-modes.ts'
import { budget_options, budgetOf } from '../../budget.ts'
import { command, whole } from '../../command.ts'
import { promptText } from '../../prompt-text.ts'
import { watching, watchRun } from '../../watch-run.ts'

const modes = ['steer', 'enqueue', 'interrupt'] as const

export const resume = command({
  name: 'resume',
  summary: 'send a follow-up to a run, or the answer it waits for',
  usage: ['ID PROMPT|-'],
  words: [2, 2],
  options: {
    mode: {
      type: 'string',
      value: 'MODE',
      choices: modes,
      about: 'how it reaches a running run; the default is steer',
    },
    model: { type: 'string', value: 'PROVIDER/MODEL', about: 'model from here on' },
    effort: {
      type: 'string',
      value: 'EFFORT',
      choices: reasoning_efforts,
      about: 'how much the model thinks from here on',
    },
    review: {
      type: 'string',
      value: 'MODE',
      choices: review_modes,
      about: 'who reviews the change from here on: a model, or rules alone',
    },
    approve: { type: 'boolean', about: 'approve what a run that waits for approval is about to push or do' },
    ...budget_options,
    'idempotency-key': {
      type: 'string',
      value: 'KEY',
      about: 'sends the follow-up once, even if the key is used again',
    },
    ...watching,
  },
  notes: ['With - the prompt is read from standard input.'],
  async run(given) {
    const { values, words, signal } = given
    const id = whole('the id of a run', words[0] ?? '')
    const prompt = await promptText(given, words[1])
    const input = {
      prompt,
      mode: values.mode as (typeof modes)[number] | undefined,
      model: values.model,
      reasoning_effort: values.effort as ReasoningEffort | undefined,
      review: values.review as ReviewMode | undefined,
      budget: budgetOf(values),
      approve: values.approve,
    }
    const resumed = given
      .client()
      .runs.resume(id, input, { signal, idempotency_key: values['idempotency-key'] })
    // The trace is shown from the follow-up on: the last entry, or an earlier one if a running run has
    // written since.
    return watchRun(given, resumed, run => Math.max(0, run.total_logs - 1))
  },
})
