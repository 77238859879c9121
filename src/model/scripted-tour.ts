import { actionTool } from '../contract/runs/action-tools.ts'
import type { ModelMessage } from './port.ts'
import { callsOf, type SeenCall } from './scripted-messages.ts'
import type { Move } from './scripted-steps.ts'

const COUNT_COMMITS =
  'git rev-list --count HEAD 2>/dev/null || echo 0; git log --oneline -n 5 2>/dev/null || true'
const LIST_FILES = 'git ls-files 2>/dev/null | wc -l; ls -1Ap'

const HOW_TO_GO_ON = `To have real work done, add the key of a model provider under *Settings*, *Models and keys*, or start the service with \`ANTHROPIC_API_KEY\`, \`OPENAI_API_KEY\`, \`GOOGLE_GENERATIVE_AI_API_KEY\`, or \`OPENAI_COMPATIBLE_BASE_URL\` for a server of your own; \`AGENTRUN_DEFAULT_MODEL\` (\`provider/model\`) chooses the one that is used.

Without a model, put the exact steps into the prompt, and they are played one by one:

~~~playbook
- thought: See whether the tests pass.
- run: npm test
- write:
    path: NOTES.md
    content: |
      Checked.
- answer: The tests pass, and NOTES.md says so.
~~~`

/**
 * Returns the answer to a message without a playbook when there is nothing new to show. `before`: the last
 * answer of the playbook before it.
 */
export function shortReply(before: string | null): Move {
  const ended =
    before === null ? '' : ` The playbook before it ended with:\n\n${before.trim().replace(/^/gm, '> ')}`
  const text = `This is the scripted model, which understands no text: nothing was done for the last message.${ended}\n\n${HOW_TO_GO_ON}`
  return { reasoning: null, text, calls: [] }
}

/**
 * Returns the next move of a short walk through the repository that needs no language model: list, read the
 * README, and report both. `since` is the conversation after the prompt. Null when the tour has been given
 * already.
 */
export function tourMove(since: ModelMessage[]): Move | null {
  const responses = since.filter(message => message.role === 'assistant')
  const calls = responses.flatMap(response => callsOf(response, since))
  if (responses.length === 0) {
    const shell = (command: string) => ({ name: actionTool.shell, input: { command } })
    return {
      reasoning: 'A scripted tour without a language model: list the repository first.',
      text: '',
      calls: [shell(COUNT_COMMITS), shell(LIST_FILES)],
    }
  }
  const listed = calls.some(call => commandOf(call) === LIST_FILES)
  if (!listed || callsOf(responses.at(-1), since).length === 0) return null
  const listing = outputOf(calls, LIST_FILES)
  const readme = listing.slice(1).find(name => /^readme(\.(md|markdown|rst|txt|adoc))?$/i.test(name))
  if (readme && responses.length === 1) {
    return {
      reasoning: 'The README says what this is.',
      text: '',
      calls: [{ name: actionTool.read, input: { path: readme, limit: 80 } }],
    }
  }
  return { reasoning: null, text: whatWasSeen(calls, listing, readme), calls: [] }
}

function whatWasSeen(calls: SeenCall[], listing: string[], readme: string | undefined): string {
  const [commits = '0', ...log] = outputOf(calls, COUNT_COMMITS)
  const [files = '0', ...names] = listing
  const shown = names.slice(0, 20).map(name => `\`${name}\``)
  const seen = [`- ${counted(files, 'file')} under version control and ${counted(commits, 'commit')}.`]
  if (shown.length > 0)
    seen.push(
      `- At the top: ${shown.join(', ')}${names.length > shown.length ? ` and ${names.length - shown.length} more` : ''}.`,
    )
  if (log[0]) seen.push(`- Last commit: \`${log[0].slice(0, 200)}\`.`)
  const content = calls.find(call => call.name === actionTool.read)?.result?.value.content
  const intro = typeof content === 'string' ? readmeIntro(content) : null
  seen.push(
    intro
      ? `- \`${readme}\` begins: ${intro}`
      : `- ${readme ? `\`${readme}\` could not be read.` : 'No README.'}`,
  )
  return `This was a scripted tour without a language model: nothing was changed, and your request was not attempted.\n\nWhat it saw:\n\n${seen.join('\n')}\n\n${HOW_TO_GO_ON}`
}

function counted(text: string, noun: string): string {
  const count = /^\s*\d+\s*$/.test(text) ? text.trim() : '0'
  return `${count} ${noun}${count === '1' ? '' : 's'}`
}

function commandOf({ input }: SeenCall): unknown {
  return typeof input === 'object' && input !== null && 'command' in input ? input.command : null
}

function outputOf(calls: SeenCall[], command: string): string[] {
  const call = calls.find(one => commandOf(one) === command)
  const output = call?.result?.value.output
  return typeof output === 'string' ? output.split('\n').filter(line => line.trim() !== '') : []
}

/** The first heading and the first paragraph of prose, in one bounded line; badges and HTML are skipped. */
function readmeIntro(content: string): string {
  const lines = content.split('\n').map(line => line.trim())
  const heading = lines.find(line => /^#{1,6}\s|^=+\s/.test(line))?.replace(/^[#=]+\s+/, '')
  const prose = (line: string | undefined) => line !== undefined && /^[\p{L}\p{N}*_`"'“(]/u.test(line)
  const start = lines.findIndex(line => prose(line) && line !== heading)
  const paragraph: string[] = []
  for (let at = start; at >= 0 && prose(lines[at]); at++) paragraph.push(lines[at] ?? '')
  const text = [heading ? `“${heading}”` : '', paragraph.join(' ')].filter(part => part !== '').join(' — ')
  return text.length > 400 ? `${text.slice(0, 400)}…` : text || 'nothing readable.'
}
