import { z } from 'zod'
import type { Endpoint } from '../contract/endpoint.ts'
import type { WireProfile } from '../contract/organizations/tokens.ts'
import { ListRunsQuery } from '../contract/runs/run-inputs.ts'
import { RunStatus, SourceType } from '../contract/runs/runs.ts'
import { several } from '../contract/several.ts'
import {
  codegenFilter,
  codegenRun,
  codegenStatuses,
  type RunWireFields,
  sourcesShownAs,
} from '../core/wire-profile.ts'

type Rewrite = (value: unknown) => unknown
type Row = Record<string, unknown>

/** `?status=` with the names of both profiles. */
const codegenStatusFilter = z.string().transform((name, ctx) => {
  const filter = RunStatus.safeParse(name).data ?? codegenFilter(name)
  if (filter === null)
    ctx.addIssue({ code: 'custom', message: `must be one of ${codegenStatuses.join(', ')}` })
  return filter ?? z.NEVER
})
const codegenListRunsQuery = ListRunsQuery.extend({
  status: several(codegenStatusFilter),
  source_type: several(SourceType.transform(sourcesShownAs)),
})

/** Returns the endpoint row that parses requests of this profile. */
export function rowFor(profile: WireProfile, endpoint: Endpoint): Endpoint {
  return profile === 'codegen' && endpoint.query === ListRunsQuery
    ? { ...endpoint, query: codegenListRunsQuery }
    : endpoint
}

const rewrites = new WeakMap<z.ZodType, Rewrite | null>()

/** Returns a response of this shape in the words of this profile: every run in it is reworded. */
export function responseFor(profile: WireProfile, schema: z.ZodType, response: unknown): unknown {
  if (profile === 'standard') return response
  if (!rewrites.has(schema)) rewrites.set(schema, rewriteOf(schema))
  const rewrite = rewrites.get(schema) ?? null
  return rewrite === null ? response : rewrite(response)
}

/** Returns the function that rewords a value of this shape; null where no status of a run can be in it. */
export function rewriteOf(schema: z.ZodType): Rewrite | null {
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional) {
    const inner = rewriteOf(schema.unwrap() as z.ZodType)
    return inner && (value => (value == null ? value : inner(value)))
  }
  if (schema instanceof z.ZodArray) {
    const item = rewriteOf(schema.element as z.ZodType)
    return item && (value => (value as unknown[]).map(item))
  }
  if (schema instanceof z.ZodUnion) {
    const options = (schema.options as z.ZodType[]).map(option => ({ option, rewrite: rewriteOf(option) }))
    if (options.every(({ rewrite }) => rewrite === null)) return null
    return value => options.find(({ option }) => option.safeParse(value).success)?.rewrite?.(value) ?? value
  }
  if (!(schema instanceof z.ZodObject)) return null
  const fields = Object.entries(schema.shape).map(
    ([key, field]) => [key, rewriteOf(field as z.ZodType)] as const,
  )
  const changed = fields.filter((field): field is [string, Rewrite] => field[1] !== null)
  const is_run = schema.shape.status === RunStatus
  if (changed.length === 0 && !is_run) return null
  return value => {
    const row = value as Row
    const inner = changed.map(([key, rewrite]) => [key, rewrite(row[key])])
    return { ...row, ...Object.fromEntries(inner), ...(is_run && codegenRun(row as RunWireFields)) }
  }
}
