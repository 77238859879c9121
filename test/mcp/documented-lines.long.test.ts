import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { CLAUDE_CODE, CODEX, installAgent, type RealAgent } from '../agents/real-agents.ts'
import { finish, responses, startCodingApp } from '../runs/coding-app.ts'
import { temporaryFolder } from '../temporary-folder.ts'

type DocumentedLine = {
  agent: RealAgent
  line: RegExp
  programs: string
  env: (origin: string) => Record<string, string>
  prompt: string
}

const CLAUDE = `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}`
const CODEX_MODEL = `-c model=fake -c model_provider=fake -c 'model_providers.fake={name="Fake",base_url="'$FAKE'/v1",wire_api="responses"}'`

const DOCUMENTED: DocumentedLine[] = [
  {
    agent: CLAUDE_CODE,
    line: /^claude mcp add .*--header.*$/m,
    programs: CLAUDE,
    env: origin => ({
      ANTHROPIC_BASE_URL: origin,
      ANTHROPIC_API_KEY: 'none',
      ANTHROPIC_MODEL: 'fake',
      ENABLE_TOOL_SEARCH: 'false',
    }),
    prompt: 'claude -p "Say hi."',
  },
  {
    agent: CODEX,
    line: /^codex mcp add .*$/m,
    programs: '.bin',
    env: origin => ({ FAKE: origin }),
    prompt: `codex exec --skip-git-repo-check ${CODEX_MODEL} "Say hi."`,
  },
]

test.each(DOCUMENTED)(
  '$agent.id, connected by the line of the documentation, offers its model the tools of the service',
  async documented => {
    const { agent, line, programs, env, prompt } = documented
    const installed = join(await installAgent(agent), 'node_modules', programs)
    await using app = await startCodingApp(responses(finish('Done.')))
    await using model = await agent.wire.start(() => ({ text: 'Hi.' }))
    using folder = temporaryFolder()
    const project = join(folder.path, 'project')
    mkdirSync(project)
    const variables = {
      HOME: folder.path,
      PATH: `${installed}${delimiter}${process.env.PATH}`,
      AGENTRUN_TOKEN: app.token,
    }
    const at = {
      cwd: project,
      timeout: 120_000,
      env: { ...variables, ...env(new URL(model.base_url).origin) },
    }
    const run = (command: string) => promisify(execFile)('/bin/sh', ['-c', `${command} </dev/null`], at)
    const page = readFileSync(new URL('../../docs/how-to/mcp.md', import.meta.url), 'utf8')
    await run(line.exec(page)?.[0].replace('http://127.0.0.1:4600', app.base_url) ?? 'false')
    await run(prompt)
    const offered = model.requests.map(({ body }) => JSON.stringify(body.tools)).join()
    expect(offered).toMatch(/mcp__agentrun/)
    for (const tool of ['create_agent_run', 'wait_for_agent_run', 'get_agent_run_diff'])
      expect(offered).toContain(tool)
  },
  300_000,
)
