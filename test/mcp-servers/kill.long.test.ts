// biome-ignore-all lint/suspicious/noExplicitAny: responses are read without types
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { programEnv, programSettings } from '../agents/program-app.ts'
import { createTestDatabase } from '../database.ts'
import { startFakeOpenAI } from '../model/fake-openai.ts'
import { calls, finish, makeRepository, shell } from '../runs/coding-app.ts'
import { type ServiceProcess, startServiceProcess } from '../runs/recovery/service-process.ts'
import { TOKEN } from '../start-app.ts'
import { testFolder } from '../temporary-folder.ts'
import { HOSTILE, hostile } from './mcp-app.ts'

async function call(service: ServiceProcess, method: string, path: string, body?: unknown): Promise<any> {
  const response = await fetch(`${service.base_url}/v1/organizations/1${path}`, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return response.json()
}

const of_program = {
  prompt: 'do: mcp odd act /workspace/calls.txt | tool cat calls.txt | say Done.',
  agent_type: 'program',
}

test.each([
  ['the built-in agent', { prompt: 'Work.' }, 'shell'],
  ['an agent of another vendor', of_program, 'bash'],
])(
  'kill -9 during a call of %s: the next worker never repeats it, and the agent learns that its outcome is unknown',
  async (_, body, tool) => {
    const data_folder = join(testFolder(), 'data')
    const repository = makeRepository({ 'README.md': '# Shop\n', 'server.mjs': HOSTILE })
    await using database = await createTestDatabase()
    await using model = await startFakeOpenAI(({ body }) => {
      const messages = body.messages as { role: string; content: unknown }[]
      const done = messages.filter(({ role }) => role === 'assistant').length
      if (done === 0) return calls({ name: 'odd__act', arguments: { text: '/workspace/calls.txt' } })
      return done === 1 ? calls(shell('cat calls.txt')) : finish('Done.')
    })
    const env = {
      AGENTRUN_DATA_DIR: data_folder,
      DATABASE_URL: database.url,
      AGENTRUN_INIT_TOKEN: TOKEN,
      AGENTRUN_INIT_REPO_URL: repository,
      OPENAI_COMPATIBLE_BASE_URL: model.base_url,
      AGENTRUN_DEFAULT_MODEL: 'openai-compatible/fake',
      ...programEnv(programSettings({ SESSIONS: 'load' })),
    }
    let service = await startServiceProcess(env)
    try {
      await call(service, 'PUT', '/mcp-servers/odd', hostile('count', { timeout_seconds: 600 }))
      const { id } = await call(service, 'POST', '/agent/run', body)
      // The program has written its file when it has the call.
      const isCalled = () =>
        readdirSync(data_folder, { recursive: true }).some(path => String(path).endsWith('/calls.txt'))
      await expect.poll(isCalled, { timeout: 30_000 }).toBe(true)
      service.child.kill('SIGKILL')
      await service.ended
      service = await startServiceProcess(env)
      await expect
        .poll(async () => (await call(service, 'GET', `/agent/run/${id}`)).terminal, {
          timeout: 60_000,
          interval: 200,
        })
        .toBe(true)
      const { logs } = await call(service, 'GET', `/agent/run/${id}/logs`)
      const outputs = (name: string) =>
        logs.filter((entry: any) => entry.tool_name === name).map((entry: any) => entry.tool_output)
      expect(outputs('odd__act')).toEqual([
        {
          status: 'interrupted',
          error: 'Interrupted: it may or may not have completed. Check before you repeat it.',
        },
      ])
      expect(outputs(tool)).toMatchObject([{ output: 'called\n' }])
    } finally {
      service.child.kill('SIGKILL')
      await service.ended
    }
  },
  120_000,
)
