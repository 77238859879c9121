import { command } from '../../command.ts'

export const help = command({
  name: 'help',
  summary: 'list the commands, or show how one is used',
  usage: ['[COMMAND [ACTION]]'],
  words: [0, 2],
  options: {},
  async run({ words, print, help }) {
    for (const line of help(words)) print.line(line)
    return 0
  },
})
