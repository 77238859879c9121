import type { ChildProcess } from 'node:child_process'
import { copyFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installPeer, type Peer, peerEnv, post, startPeer, versionOf } from './peer.ts'

const majors = {
  langgraph: 1,
  core: 1,
  'langgraph-checkpoint': 1,
  'langgraph-api': 2,
  'langgraph-cli': 2,
  'langgraph-sdk': 2,
}
const packages = [
  ...Object.entries(majors).map(([name, major]) => `@langchain/${name}@${major}`),
  'typescript@5',
]

/**
 * The server in memory of LangGraph, with a graph of a model and a shell: no sandbox, nothing on disk before
 * it ends.
 */
export const langgraph: Peer = {
  name: 'LangGraph API',
  async start(stack, { model_url, folder }) {
    const installed = await installPeer('langgraph', [packages])
    symlinkSync(join(installed, 'node_modules'), join(folder, 'node_modules'))
    copyFileSync(fileURLToPath(new URL('./graph.mjs', import.meta.url)), join(folder, 'graph.mjs'))
    writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}')
    writeFileSync(
      join(folder, 'langgraph.json'),
      JSON.stringify({ node_version: '22', graphs: { agent: './graph.mjs:graph' }, env: {} }),
    )
    const port = await freePort()
    const args = ['dev', '--no-browser', '--host', '127.0.0.1', '--port', String(port)]
    const env = {
      BENCH_MODEL_URL: model_url,
      LANGGRAPH_CLI_NO_ANALYTICS: '1',
      LANGSMITH_TRACING: 'false',
      LANGCHAIN_TRACING_V2: 'false',
      LOG_LEVEL: 'warn',
    }
    const child = startPeer(stack, join(installed, 'node_modules/.bin/langgraphjs'), args, {
      cwd: folder,
      env: peerEnv(folder, env),
    })
    const url = `http://127.0.0.1:${port}`
    child.stdout.resume()
    await answered(`${url}/ok`, child)
    return {
      version: versionOf(installed, '@langchain/langgraph-api'),
      async run(prompt) {
        const created_at = performance.now()
        const thread = await post(`${url}/threads`, {})
        const ended = post(`${url}/threads/${thread.thread_id}/runs/wait`, {
          assistant_id: 'agent',
          input: { messages: [{ role: 'user', content: prompt }] },
          config: { recursion_limit: 1_000 },
        })
        return { created_at, start_ms: 0, ended: ended.then(() => {}) }
      },
    }
  },
}

/** Resolves when the server responds; rejects when its process has ended, or after 60 seconds. */
async function answered(url: string, child: ChildProcess): Promise<void> {
  const late = performance.now() + 60_000
  while (child.exitCode === null && performance.now() < late) {
    const ready = await fetch(url).then(
      response => response.ok,
      () => false,
    )
    if (ready) return
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  throw new Error(child.exitCode === null ? 'it was not ready after 60 s' : `it ended with ${child.exitCode}`)
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise(resolve => server.close(resolve))
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}
