import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ServiceProcess, startServiceProcess } from '../test/runs/recovery/service-process.ts'
import { TOKEN } from './start-service.ts'

/** Settings of all processes on one database, without rate limits. */
export const nodeSettings = (
  database: { url: string },
  repository: { path: string },
  model: { base_url: string },
) => ({
  DATABASE_URL: database.url,
  AGENTRUN_INIT_TOKEN: TOKEN,
  AGENTRUN_INIT_REPO_URL: repository.path,
  AGENTRUN_SECRET_KEY: '0'.repeat(64),
  OPENAI_COMPATIBLE_BASE_URL: model.base_url,
  AGENTRUN_DEFAULT_MODEL: 'openai-compatible/fake',
  AGENTRUN_LIMIT_STANDARD: 'off',
  AGENTRUN_LIMIT_AGENT_CREATION: 'off',
  AGENTRUN_LIMIT_TOKEN_TOTAL: 'off',
})

export type Node = ServiceProcess & { data_dir: string }

/** Starts a process with a data folder of its own, which `stack` removes after ending the process. */
export async function startNode(
  stack: AsyncDisposableStack,
  env: Record<string, string>,
  role: 'all' | 'serve' | 'work',
): Promise<Node> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'agentrun-bench-node-')))
  chmodSync(folder, 0o755)
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  return startNodeIn(stack, env, role, join(folder, 'data'))
}

export async function startNodeIn(
  stack: AsyncDisposableStack,
  env: Record<string, string>,
  role: 'all' | 'serve' | 'work',
  data_dir: string,
): Promise<Node> {
  const process = await startServiceProcess({ ...env, AGENTRUN_DATA_DIR: data_dir }, role)
  stack.defer(async () => {
    process.child.kill('SIGTERM')
    await process.ended
  })
  if (process.child.exitCode !== null) throw new Error(`a process did not start: ${process.output}`)
  return { ...process, data_dir }
}
