import type { Client } from '../../sdk/client.ts'
import { budget_options, budgetOf } from '../budget.ts'
import { command } from '../command.ts'
import { CliError } from '../exit.ts'
import { promptText } from '../prompt-text.ts'
import { watching, watchRun } from '../watch-run.ts'

export const run = command({
  name: 'run',
  summary: 'start an agent run',
  takes: 'PROMPT|-',
  words: [1, 1],
  options: {
    repo: { type: 'string', value: 'ID|NAME', about: "repository, by default the organization's" },
    model: { type: 'string', value: 'PROVIDER/MODEL', about: 'model' },
    base: { type: 'string', value: 'REF', about: 'branch, tag or commit to start from' },
    title: { type: 'string', value: 'TEXT', about: 'title, by default made from the prompt' },
    tag: { type: 'string', multiple: true, value: 'TAG', about: 'tag; may be given several times' },
    'no-pr': { type: 'boolean', about: 'push the branch, but propose no pull request' },
    ...budget_options,
    'idempotency-key': { type: 'string', value: 'KEY', about: 'a second run with the same key is the first one' },
    ...watching,
  },
  notes: [
    'With - the prompt is read from standard input.',
    'With --follow or --wait the exit code is the outcome: 0 completed; 1 failed, cancelled, paused or waiting for you.',
  ],
  async run(given) {
    const { values, words, signal } = given
    const prompt = await promptText(given, words[0])
    const client = given.client()
    const input = {
      prompt,
      repo_id: values.repo === undefined ? undefined : await repositoryId(client, values.repo, signal),
      model: values.model,
      base_ref: values.base,
      title: values.title,
      tags: values.tag,
      auto_create_pr: values['no-pr'] ? false : undefined,
      budget: budgetOf(values),
    }
    return watchRun(given, client.runs.create(input, { signal, idempotency_key: values['idempotency-key'] }), () => 0)
  },
})

/** The id of a repository that was given by id, full name or name. */
async function repositoryId(client: Client, given: string, signal: AbortSignal): Promise<number> {
  if (/^\d{1,15}$/.test(given)) return Number(given)
  const names: string[] = []
  for await (const repository of client.repositories({}, { signal })) {
    if (repository.full_name === given || repository.name === given) return repository.id
    names.push(repository.full_name)
  }
  throw new CliError(`there is no repository ${given}${names.length === 0 ? '' : `, but ${names.slice(0, 20).join(', ')}`}`)
}
