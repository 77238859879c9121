import { command, whole } from '../../command.ts'
import { promptText } from '../../prompt-text.ts'
import { watching, watchRun } from '../../watch-run.ts'

export const fork = command({
  name: 'fork',
  summary: 'start a new run from an entry of another one, with its conversation and its files',
  usage: ['ID SEQ [PROMPT|-]'],
  words: [2, 3],
  options: {
    'idempotency-key': {
      type: 'string',
      value: 'KEY',
      about: 'returns the existing fork if the key was used before',
    },
    ...watching,
  },
  notes: [
    'SEQ is the number of the last entry to keep, as `agentrun logs` shows it.',
    'Without a prompt the agent continues. With - the prompt is read from standard input.',
  ],
  async run(given) {
    const { values, words, signal } = given
    const id = whole('the id of a run', words[0] ?? '')
    const from_seq = whole('the number of an entry', words[1] ?? '')
    const prompt = words[2] === undefined ? undefined : await promptText(given, words[2])
    const forked = given
      .client()
      .runs.fork(id, { from_seq, prompt }, { signal, idempotency_key: values['idempotency-key'] })
    return watchRun(given, forked, () => 0)
  },
})
