import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Endpoint } from '../contract/endpoint.ts'
import { endpoints } from '../contract/endpoints.ts'
import { AgentRun, RunStatus } from '../contract/runs/runs.ts'
import { answerFor, rewriteOf } from './wire-profile.ts'

const Small = z.object({ id: z.int(), status: RunStatus, status_reason: z.string().nullable() })
const failed = { id: 1, status: 'failed', status_reason: 'timeout', metadata: { status: 'failed' } }

test('the status is worded wherever a run stands in an answer, and nowhere else', () => {
  const schema = z.object({ items: z.array(Small), run: Small.nullable(), last: Small.optional(), status: z.literal('failed') })
  const answer = { items: [failed, { id: 2, status: 'queued' }], run: failed, last: failed, status: 'failed' }
  const told = { ...failed, status: 'TIMEOUT' }
  expect(answerFor('codegen', schema, answer)).toEqual({
    items: [told, { id: 2, status: 'ACTIVE' }],
    run: told,
    last: told,
    status: 'failed',
  })
  expect(answerFor('codegen', schema, { items: [], run: null, status: 'failed' })).toEqual({ items: [], run: null, status: 'failed' })
  expect(answerFor('standard', schema, answer)).toBe(answer)
})

test('of a choice of answers the one that it is', () => {
  const schema = z.union([z.object({ dry_run: z.literal(true), status: z.string() }), Small])
  expect(answerFor('codegen', schema, failed)).toMatchObject({ status: 'TIMEOUT' })
  expect(answerFor('codegen', schema, { dry_run: true, status: 'failed' })).toEqual({ dry_run: true, status: 'failed' })
})

test('keys stay where they are, and those with the name of a prototype stay keys', () => {
  const answer = JSON.parse('{"id":1,"status":"queued","status_reason":null,"__proto__":{"a":1}}')
  expect(JSON.stringify(answerFor('codegen', Small, answer))).toBe('{"id":1,"status":"ACTIVE","status_reason":null,"__proto__":{"a":1}}')
})

test('no answer of the contract holds a status of a run that would be passed over', () => {
  for (const [name, { response }] of Object.entries(endpoints) as [string, Endpoint][]) {
    if (typeof response === 'string') continue
    const json = JSON.stringify(z.toJSONSchema(response, { io: 'output', unrepresentable: 'any' }))
    expect({ name, worded: rewriteOf(response) !== null }).toEqual({ name, worded: json.includes('"cancelling"') })
    expect({ name, others: json.match(/"(?!status")\w+":\{"\$ref":"#\/\$defs\/RunStatus"/g) }).toEqual({ name, others: null })
  }
  expect(rewriteOf(AgentRun)).not.toBeNull()
})
