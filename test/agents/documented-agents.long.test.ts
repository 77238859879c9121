// biome-ignore-all lint/suspicious/noExplicitAny: requests and entries are read without types
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { allLogs, awaitEnd, createRun } from '../runs/await-run.ts'
import { startCodingApp } from '../runs/coding-app.ts'
import { installPackage } from './real-agents.ts'

const PAGE = readFileSync(new URL('../../docs/how-to/other-agents.md', import.meta.url), 'utf8')

const COMMAND = 'echo made >made.txt'

/** Returns the documented settings of an agent, and its package with the documented version. */
function documented(id: string, name: string) {
  const examples = PAGE.split('```json\n').slice(1)
  const settings = examples
    .map(part => JSON.parse(part.split('```')[0] ?? '')[id])
    .find(found => found !== undefined)
  const [, version] = PAGE.split(`\`${name}\` `)
  return { settings, version: `${name}@${/^[\d.]+\d/.exec(version ?? '')?.[0]}` }
}

test.each([
  ['kimi', '@moonshot-ai/kimi-code', { name: 'Bash', arguments: { command: COMMAND, description: 'Work' } }],
  [
    'qwen',
    '@qwen-code/qwen-code',
    { name: 'run_shell_command', arguments: { command: COMMAND, description: 'Work' } },
  ],
  ['cline', 'cline', { name: 'run_commands', arguments: { commands: [COMMAND] } }],
])(
  'an agent that is only documented works on a run, and its commands change files: %s',
  async (id, name, call) => {
    const { settings, version } = documented(id, name)
    const agents = { [id]: { ...settings, folder: await installPackage(version) } }
    await using app = await startCodingApp(
      ({ body }: any) => {
        const worked = body.messages.some(({ role }: any) => role === 'tool')
        return body.tools?.length > 0 && !worked ? { tool_calls: [call] } : { text: 'I made it.' }
      },
      { AGENTRUN_AGENTS: JSON.stringify(agents) },
    )
    const { id: run_id } = await createRun(app, { prompt: 'Make a file.', agent_type: id })
    const run = await awaitEnd(app, run_id)
    expect(run, JSON.stringify((await allLogs(app, run_id)).slice(-4))).toMatchObject({
      status: 'completed',
      result: 'I made it.',
    })
    expect(app.git('show', `${run.github_pull_requests[0].head_branch_name}:made.txt`)).toBe('made\n')
  },
  120_000,
)
