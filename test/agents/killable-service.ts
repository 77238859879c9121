// biome-ignore-all lint/suspicious/noExplicitAny: rows are read without types
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { createTestDatabase } from '../database.ts'
import { makeRepository } from '../runs/coding-app.ts'
import { startServiceProcess } from '../runs/recovery/service-process.ts'
import { TOKEN } from '../start-app.ts'
import { testFolder } from '../temporary-folder.ts'
import { callAgentApi, callApi } from './agent-api.ts'
import { programEnv } from './program-app.ts'

/**
 * Starts a service as a process of its own, with the test program as agent. `settings`: of the agent.
 * `files`: of the repository.
 */
export async function startKillable(settings: object, files?: Record<string, string>) {
  const database = await createTestDatabase()
  const repository = makeRepository(files)
  const agents = programEnv(settings)
  const start = (data: string) =>
    startServiceProcess({
      AGENTRUN_DATA_DIR: join(data, 'data'),
      DATABASE_URL: database.url,
      AGENTRUN_INIT_TOKEN: TOKEN,
      AGENTRUN_INIT_REPO_URL: repository,
      OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:9/v1',
      AGENTRUN_DEFAULT_MODEL: 'openai-compatible/fake',
      AGENTRUN_LIMIT_STANDARD: 'off',
      AGENTRUN_LIMIT_TOKEN_TOTAL: 'off',
      ...agents,
    })
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  let folder = testFolder()
  let service = await start(folder)
  const call = (method: string, path: string, body?: unknown) =>
    callAgentApi(service.base_url, method, path, body)
  const kill = async () => {
    service.child.kill('SIGKILL')
    await service.ended
  }
  return {
    call,
    repository,
    callOrganization: (method: string, path: string, body?: unknown) =>
      callApi(service.base_url, method, path, body),
    rows: async (text: string, values: unknown[]): Promise<any[]> => (await client.query(text, values)).rows,
    /**
     * `elsewhere`: with another data folder and without the files of the first one, as on another machine.
     */
    async killAndRestart(elsewhere = false) {
      await kill()
      if (elsewhere) rmSync(join(folder, 'data/workspaces'), { recursive: true })
      if (elsewhere) folder = testFolder()
      service = await start(folder)
    },
    async [Symbol.asyncDispose]() {
      await kill()
      await client.end()
      await database[Symbol.asyncDispose]()
    },
  }
}
