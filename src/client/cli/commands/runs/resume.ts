import { budget_options, budgetOf } from '../../budget.ts'
import { command, whole } from '../../command.ts'
import { promptText } from '../../prompt-text.ts'
import { watching, watchRun } from '../../watch-run.ts'

const modes = ['steer', 'enqueue', 'interrupt'] as const

export const resume = command({
  name: 'resume',
  summary: 'send a follow-up to a run, or the answer it waits for',
  takes: 'ID PROMPT|-',
  words: [2, 2],
  options: {
    mode: { type: 'string', value: 'MODE', choices: modes, about: 'how it reaches a run at work: steer (default), enqueue, interrupt' },
    model: { type: 'string', value: 'PROVIDER/MODEL', about: 'model from here on' },
    approve: { type: 'boolean', about: 'let a run that waits for approval push what it shows' },
    ...budget_options,
    'idempotency-key': { type: 'string', value: 'KEY', about: 'a second follow-up with the same key is the first one' },
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
      budget: budgetOf(values),
      approve: values.approve,
    }
    const asked = given.client().runs.resume(id, input, { signal, idempotency_key: values['idempotency-key'] })
    // The trace is shown from the follow-up on: it is the last entry, but for what a run at work wrote since.
    return watchRun(given, asked, run => Math.max(0, run.total_logs - 1))
  },
})
