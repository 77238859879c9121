// biome-ignore-all lint/suspicious/noExplicitAny: runs are read without types
import { expect } from 'vitest'
import { SEARCH } from '../../agents/key-search.ts'
import { startProgramApp } from '../../agents/program-app.ts'
import { MODEL_KEY, type RealAgent, scriptOf, startAgentApp } from '../../agents/real-agents.ts'
import { allLogs, awaitEnd, createRun } from '../await-run.ts'
import type { CodingApp } from '../coding-app.ts'

/** Without `folder` the programs of an agent are in the image. */
export const IN_IMAGE = { folder: undefined }

/**
 * A small program as agent, on the driver that `env` names: it calls the model by the gateway, works in the
 * files, and the key is not in its sandbox. `settings`: of the agent.
 */
export async function playProgram(env: Record<string, string>, settings: object = {}): Promise<void> {
  await using app = await startProgramApp(() => ({ text: 'Hello.' }), env, settings)
  const search = `echo ${Buffer.from(SEARCH).toString('base64')}|base64 -d|bash`
  const steps = ['call', 'tool echo two > two.txt', `tool ${search}`, 'call path /v1/other', 'say Done.']
  const { run, logs } = await perform(app, `do: ${steps.join(' | ')}`, 'program')
  expect(run, JSON.stringify(logs.at(-1))).toMatchObject({ status: 'completed', result: '[404]Done.' })
  expectKeyOutside(
    app,
    JSON.stringify(logs.findLast(({ tool_name }) => tool_name === 'bash').tool_output.output),
  )
  await expectPullRequest(app, run, 'two\n')
}

/** A real agent from npm in the same way. */
export async function playRealAgent(
  agent: RealAgent,
  env: Record<string, string>,
  settings: object = {},
): Promise<void> {
  let searched = ''
  const script = scriptOf(agent, [
    () => ({ tool_calls: [agent.shell(`echo begin; ${SEARCH}`)] }),
    request => {
      searched = JSON.stringify(agent.wire.results(request))
      return { tool_calls: [agent.write('two.txt', 'two\n')] }
    },
    () => ({ text: 'I added two.txt.' }),
  ])
  await using app = await startAgentApp(agent, script, env, settings)
  const { run, logs } = await perform(app, 'Add two.txt.', agent.id)
  expect(run, JSON.stringify(logs.slice(-3))).toMatchObject({
    status: 'completed',
    result: 'I added two.txt.',
  })
  expectKeyOutside(app, searched)
  await expectPullRequest(app, run, 'two\n')
}

async function perform(
  app: CodingApp,
  prompt: string,
  agent_type: string,
): Promise<{ run: any; logs: any[] }> {
  const { id } = await createRun(app, { prompt, agent_type })
  const run = await awaitEnd(app, id)
  return { run, logs: await allLogs(app, id) }
}

/** `searched`: what the search for the key has found, as JSON. */
function expectKeyOutside({ model }: CodingApp, searched: string): void {
  expect(model.requests.length).toBeGreaterThan(0)
  for (const { headers } of model.requests) expect(JSON.stringify(headers)).toContain(MODEL_KEY)
  expect(searched).toContain('searched\\n0')
}

async function expectPullRequest(app: CodingApp, run: any, content: string): Promise<void> {
  expect(run.github_pull_requests).toMatchObject([{ state: 'open', files_changed: 1 }])
  expect(app.git('show', `${run.github_pull_requests[0].head_branch_name}:two.txt`)).toBe(content)
}
