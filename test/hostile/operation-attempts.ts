import fc from 'fast-check'
import { endpoints } from '../../src/contract/endpoints.ts'
import { type Operation, operations } from '../api/contract/document.ts'
import {
  bodySchema,
  type GeneratedRequest,
  good,
  isHeader,
  newTarget,
  parameterTexts,
  type Target,
  whole,
  withText,
} from '../api/contract/generated-requests.ts'
import { spoiled } from '../api/contract/schema-values.ts'
import type { Random } from '../chaos/random.ts'
import type { App } from '../start-app.ts'
import { type Attempt, requestBytes } from './send-bytes.ts'

/** Requests that the document allows, and others with a spoiled parameter or body. */
function anyRequest(operation: Operation, target: Target): fc.Arbitrary<GeneratedRequest> {
  const schema = bodySchema(operation)
  const base = good(operation, target)
  return fc.oneof(
    base,
    ...(schema
      ? [fc.tuple(base, spoiled(schema, target.known)).map(([given, body]) => ({ ...given, body }))]
      : []),
    ...operation.parameters.map(parameter => {
      const texts = parameterTexts(parameter, target.known)
      const sendable = parameter.in === 'header' ? texts.filter(isHeader) : texts
      return fc.tuple(base, sendable).map(([given, text]) => withText(given, parameter, text))
    }),
  )
}

/** How many requests are generated at once: generating one of them costs about as much. */
const BATCH = 30

type Source = {
  operation: Operation
  target: Target
  requests: fc.Arbitrary<GeneratedRequest>
  waiting: GeneratedRequest[]
  batch: number
}

export type OperationAttempts = { next(random: Random): Attempt }

/** Requests to every operation of the document, each with an organization of its own. */
export async function operationAttempts(
  app: Pick<App, 'db'>,
  seed: number,
  strangers: readonly string[],
): Promise<OperationAttempts> {
  const own = operations.filter(({ operationId }) => operationId in endpoints)
  const sources: Source[] = []
  for (const operation of own) {
    const target = await newTarget(app, operation)
    sources.push({ operation, target, requests: anyRequest(operation, target), waiting: [], batch: 0 })
  }
  const next = (random: Random): Attempt => {
    const source = random.of(sources)
    const { operation, target, requests, waiting } = source
    if (waiting.length === 0)
      waiting.push(...fc.sample(requests, { seed: seed + source.batch++, numRuns: BATCH }))
    const { method, path, headers, body } = whole(operation, waiting.pop() as GeneratedRequest)
    const token = random.chance(0.9) ? (target.token ?? undefined) : random.of(strangers)
    const fields = {
      authorization: token && `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    }
    const parts = requestBytes(
      `${method} ${path}`,
      fields,
      body === undefined ? undefined : JSON.stringify(body),
    )
    const is_stream = path.includes('/events')
    return {
      name: `${operation.operationId} ${operation.path}`,
      parts,
      ...(is_stream && { drops: 'after_head' as const }),
    }
  }
  return { next }
}
