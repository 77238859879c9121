// biome-ignore-all lint/suspicious/noExplicitAny: entries are read without types
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { FakeResponse, FakeScript, SeenRequest } from '../model/fake-server.ts'
import { allLogs, awaitEnd, createRun } from '../runs/await-run.ts'
import { type CodingApp, calls, finish, makeRepository, startCodingApp } from '../runs/coding-app.ts'

export const HOSTILE = readFileSync(fileURLToPath(new URL('hostile.mjs', import.meta.url)), 'utf8')

/** The service with a repository that contains a program which speaks MCP well or badly. */
export async function startMcpApp(
  script: FakeScript,
  env: Record<string, string> = {},
  files: Record<string, string | Uint8Array> = {},
) {
  const app = await startCodingApp(
    script,
    env,
    makeRepository({ 'README.md': '# Shop\n', 'server.mjs': HOSTILE, ...files }),
  )
  return { ...app, servers: serversOf(app) }
}

const serversOf = (app: CodingApp) => ({
  async set(name: string, body: object, repo_id?: number) {
    const { status, body: set } = await app.call('PUT', `${pathOf(app, repo_id)}/${name}`, body)
    if (status !== 200) throw new Error(`the server was refused: ${JSON.stringify(set)}`)
    return set
  },
  remove: (name: string, repo_id?: number) => app.call('DELETE', `${pathOf(app, repo_id)}/${name}`),
})

export const pathOf = (app: { org_id: number }, repo_id?: number) =>
  `/v1/organizations/${app.org_id}${repo_id === undefined ? '' : `/repos/${repo_id}`}/mcp-servers`

/** The program of the repository that behaves in this way. */
export const hostile = (how: string, more: object = {}) => ({
  command: 'node',
  args: ['/workspace/server.mjs', how],
  timeout_seconds: 20,
  ...more,
})

/** Calls these tools, one after the other, and finishes. */
export function callsInTurn(...list: { name: string; arguments: Record<string, unknown> }[]): FakeScript {
  return ({ body }) => {
    const messages = body.messages as { role: string }[]
    const done = messages.filter(({ role }) => role === 'assistant').length
    const call = list[done]
    return call === undefined ? finish('Done.') : calls(call)
  }
}

export type PlayedRun = {
  run: any
  logs: any[]
  requests: SeenRequest[]
  tools: string[]
  errors: any[]
  actions: any[]
}

/** Starts a run, and returns it at its end with its trace and the requests to its model. */
export async function playRun(app: CodingApp, body: object = {}): Promise<PlayedRun> {
  const from = app.model.requests.length
  const { id } = await createRun(app, { prompt: 'Work.', ...body })
  const run = await awaitEnd(app, id)
  const logs = await allLogs(app, id)
  const requests = app.model.requests.slice(from)
  return {
    run,
    logs,
    requests,
    tools: toolsOf(requests[0]),
    errors: logs.filter(({ message_type }) => message_type === 'ERROR').map(({ observation }) => observation),
    actions: logs.filter(({ message_type }) => message_type === 'ACTION'),
  }
}

/** The names of the tools that a request offers. */
export const toolsOf = (request: SeenRequest | undefined): string[] =>
  ((request?.body.tools ?? []) as { name?: string; function?: { name: string } }[]).map(
    tool => tool.function?.name ?? tool.name ?? '',
  )

export const specOf = (request: SeenRequest | undefined, name: string): any =>
  ((request?.body.tools ?? []) as { function: { name: string } }[]).find(tool => tool.function.name === name)
    ?.function

export type { FakeResponse }
