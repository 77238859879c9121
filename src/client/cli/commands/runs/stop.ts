import { command, printResult, whole } from '../../command.ts'
import { runLine } from '../../format-run.ts'

export const stop = command({
  name: 'stop',
  summary: 'stop a run; a run that has ended does not change',
  usage: ['ID'],
  words: [1, 1],
  options: {},
  async run({ words, json, print, client, signal }) {
    const run = await client().runs.stop(whole('the id of a run', words[0] ?? ''), { signal })
    return printResult({ json, print }, run, () => [runLine(run, print)])
  },
})
