import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { z } from 'zod'
import type { Endpoint } from '../../contract/endpoint.ts'
import { fieldsOf, listedTools } from './tool-schemas.ts'
import { tools } from './tool-table.ts'

const namesIn = ({ params, query, body }: Endpoint) =>
  [params, query, ...(body === null ? [] : [body as z.ZodObject])].flatMap(({ shape }) => Object.keys(shape))

test.each(tools)(
  '$name: each argument belongs to one part of the request, and what is omitted or preset is a field',
  tool => {
    const names = namesIn(tool.endpoint)
    expect(new Set(names).size).toBe(names.length)
    expect(names).not.toContain('idempotency_key')
    expect([...tool.omit, ...Object.keys(tool.defaults)].filter(name => !names.includes(name))).toEqual([])
    const listed = listedTools.find(({ name }) => name === tool.name)
    const arguments_of = [...fieldsOf(tool).keys(), ...(tool.endpoint.idempotent ? ['idempotency_key'] : [])]
    expect(Object.keys(listed?.inputSchema.properties ?? {}).sort()).toEqual(arguments_of.sort())
    expect(listed?.inputSchema.required ?? []).not.toContain('org_id')
    expect(Object.keys(listed?.inputSchema.properties ?? {})).not.toContain('cursor')
  },
)

test('descriptions and defaults are those of the contract, except where a tool presets another one', () => {
  const create = listedTools.find(({ name }) => name === 'create_agent_run')
  expect(create?.inputSchema).toMatchObject({
    required: ['prompt'],
    properties: { prompt: { type: 'string', description: 'Task of the agent' } },
  })
  expect(create?.description).toMatch(/^Create an agent run\. .*Needs the scope `runs:write`\.$/)
  const logs = listedTools.find(({ name }) => name === 'get_agent_run_logs')
  expect(logs?.inputSchema.properties).toMatchObject({
    skip: { default: 0 },
    limit: { default: 20, maximum: 100 },
  })
})

test('docs/how-to/mcp.md names every tool, and no other', () => {
  const page = readFileSync(new URL('../../../docs/how-to/mcp.md', import.meta.url), 'utf8')
  const table = page.slice(page.indexOf('| tool | for |')).split('\n\n')[0] ?? ''
  const named = [...table.matchAll(/`([a-z_]+)`/g)].map(match => match[1])
  expect(named.sort()).toEqual(tools.map(({ name }) => name).sort())
})
