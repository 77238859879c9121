import { command, whole } from '../../command.ts'
import { promptText } from '../../prompt-text.ts'
import { watching, watchRun } from '../../watch-run.ts'

export const fork = command({
  name: 'fork',
  summary: 'begin a new run at an entry of another one, with its conversation and its files',
  takes: 'ID SEQ [PROMPT|-]',
  words: [2, 3],
  options: {
    'idempotency-key': { type: 'string', value: 'KEY', about: 'a second fork with the same key is the first one' },
    ...watching,
  },
  notes: [
    'SEQ is the number of the last entry that is taken over, as `agentrun logs` shows it.',
    'Without a prompt the agent goes on. With - it is read from standard input.',
  ],
  async run(given) {
    const { values, words, signal } = given
    const id = whole('the id of a run', words[0] ?? '')
    const from_seq = whole('the number of an entry', words[1] ?? '')
    const prompt = words[2] === undefined ? undefined : await promptText(given, words[2])
    const asked = given.client().runs.fork(id, { from_seq, prompt }, { signal, idempotency_key: values['idempotency-key'] })
    return watchRun(given, asked, () => 0)
  },
})
