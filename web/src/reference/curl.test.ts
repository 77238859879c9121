import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { openApiDocument } from '../../../src/contract/openapi.ts'
import type { ApiDocument } from '../api/api-document.ts'
import { chaptersOf } from './chapters.ts'
import { curlOf } from './curl.ts'

const document = JSON.parse(
  JSON.stringify(openApiDocument({ base_url: 'http://service.test', version: '1' })),
) as ApiDocument
const entries = chaptersOf(document).flatMap(chapter => chapter.entries)
const commandOf = (id: string) => {
  const entry = entries.find(one => one.id === id)
  return entry ? curlOf(document, entry) : ''
}
/** The arguments that a shell parses from a command line. */
const argumentsOf = (command: string) =>
  execFileSync('sh', ['-c', command.replace(/^curl/, "printf '%s\\0'")], {
    env: { AGENTRUN_TOKEN: 'secret' },
  })
    .toString()
    .split('\0')
    .slice(0, -1)

test('a read is one line with the token as a variable', () => {
  expect(argumentsOf(commandOf('getAgentRun'))).toEqual([
    '-sS',
    'http://service.test/v1/organizations/1/agent/run/1',
    '-H',
    'Authorization: Bearer secret',
  ])
})

test('a write sends the example as JSON, with any quotes in it', () => {
  const argv = argumentsOf(commandOf('createAgentRun'))
  expect(argv.slice(0, 4)).toEqual(['-sS', '-X', 'POST', 'http://service.test/v1/organizations/1/agent/run'])
  expect(JSON.parse(argv.at(-1) ?? '')).toMatchObject({ repo_id: 1 })
  const tricky = entries.find(one => one.id === 'createAgentRun')
  if (!tricky?.operation.requestBody) throw new Error('it has a body')
  const body = {
    content: { 'application/json': { examples: { one: { value: { prompt: "it's $HOME `x` \\" } } } } },
  }
  const command = curlOf(document, { ...tricky, operation: { ...tricky.operation, requestBody: body } })
  expect(JSON.parse(argumentsOf(command).at(-1) ?? '')).toEqual({ prompt: "it's $HOME `x` \\" })
})

test('a stream is not buffered, and what is public gets no token', () => {
  expect(argumentsOf(commandOf('streamAgentRunEvents')).slice(0, 2)).toEqual(['-sS', '-N'])
  expect(argumentsOf(commandOf('getHealth'))).toEqual(['-sS', 'http://service.test/healthz'])
})
