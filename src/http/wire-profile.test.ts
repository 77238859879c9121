import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Endpoint } from '../contract/endpoint.ts'
import { endpoints } from '../contract/endpoints.ts'
import { AgentRun, RunStatus } from '../contract/runs/runs.ts'
import { responseFor, rewriteOf } from './wire-profile.ts'

const Small = z.object({ id: z.int(), status: RunStatus, status_reason: z.string().nullable() })
const failed = { id: 1, status: 'failed', status_reason: 'timeout', metadata: { status: 'failed' } }

test('the status is reworded wherever a run is in a response, and nowhere else', () => {
  const schema = z.object({
    items: z.array(Small),
    run: Small.nullable(),
    last: Small.optional(),
    status: z.literal('failed'),
  })
  const response = {
    items: [failed, { id: 2, status: 'queued' }],
    run: failed,
    last: failed,
    status: 'failed',
  }
  const reworded = { ...failed, status: 'TIMEOUT' }
  expect(responseFor('codegen', schema, response)).toEqual({
    items: [reworded, { id: 2, status: 'ACTIVE' }],
    run: reworded,
    last: reworded,
    status: 'failed',
  })
  expect(responseFor('codegen', schema, { items: [], run: null, status: 'failed' })).toEqual({
    items: [],
    run: null,
    status: 'failed',
  })
  expect(responseFor('standard', schema, response)).toBe(response)
})

test('the alternative of a union that matches is reworded', () => {
  const schema = z.union([z.object({ dry_run: z.literal(true), status: z.string() }), Small])
  expect(responseFor('codegen', schema, failed)).toMatchObject({ status: 'TIMEOUT' })
  expect(responseFor('codegen', schema, { dry_run: true, status: 'failed' })).toEqual({
    dry_run: true,
    status: 'failed',
  })
})

test('keys stay where they are, and those with the name of a prototype stay keys', () => {
  const response = JSON.parse('{"id":1,"status":"queued","status_reason":null,"__proto__":{"a":1}}')
  expect(JSON.stringify(responseFor('codegen', Small, response))).toBe(
    '{"id":1,"status":"ACTIVE","status_reason":null,"__proto__":{"a":1}}',
  )
})

test('no response of the contract contains a status of a run that would be passed over', () => {
  for (const [name, { response }] of Object.entries(endpoints) as [string, Endpoint][]) {
    if (typeof response === 'string') continue
    const json = JSON.stringify(z.toJSONSchema(response, { io: 'output', unrepresentable: 'any' }))
    expect({ name, worded: rewriteOf(response) !== null }).toEqual({
      name,
      worded: json.includes('"cancelling"'),
    })
    expect({ name, others: json.match(/"(?!status")\w+":\{"\$ref":"#\/\$defs\/RunStatus"/g) }).toEqual({
      name,
      others: null,
    })
  }
  expect(rewriteOf(AgentRun)).not.toBeNull()
})
