import { command, printResult, whole } from '../../command.ts'
import { runLine } from '../../format-run.ts'

export const pause = command({
  name: 'pause',
  summary: 'pause a run; resume continues it',
  usage: ['ID'],
  words: [1, 1],
  options: {},
  async run({ words, json, print, client, signal }) {
    const run = await client().runs.pause(whole('the id of a run', words[0] ?? ''), { signal })
    return printResult({ json, print }, run, () => [runLine(run, print)])
  },
})
