import { command } from '../../command.ts'
import { bashCompletion, fishCompletion, zshCompletion } from '../../completion-scripts.ts'

const shells = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion }

export const completion = command({
  name: 'completion',
  summary: 'print the completion script of a shell',
  usage: ['bash|zsh|fish'],
  words: [1, 1],
  choices: Object.keys(shells),
  options: {},
  notes: [
    'bash: source <(agentrun completion bash)              in ~/.bashrc',
    'zsh:  agentrun completion zsh > ~/.zfunc/_agentrun     with that folder in fpath',
    'fish: agentrun completion fish > ~/.config/fish/completions/agentrun.fish',
  ],
  async run({ words: [shell], print, commands }) {
    print.line(shells[shell as keyof typeof shells](commands))
    return 0
  },
})
