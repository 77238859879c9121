import { command, printResult, whole } from '../../command.ts'
import { runDetails } from '../../format-run.ts'

export const show = command({
  name: 'show',
  summary: 'show a run: state, pull request, usage, error, answer',
  usage: ['ID'],
  words: [1, 1],
  options: {},
  async run({ words, json, print, client, signal }) {
    const run = await client().runs.get(whole('the id of a run', words[0] ?? ''), { signal })
    return printResult({ json, print }, run, () => runDetails(run, print, Date.now()))
  },
})
