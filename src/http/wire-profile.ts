import { z } from 'zod'
import type { Endpoint } from '../contract/endpoint.ts'
import type { WireProfile } from '../contract/organizations/tokens.ts'
import { ListRunsQuery } from '../contract/runs/run-inputs.ts'
import { RunStatus, SourceType } from '../contract/runs/runs.ts'
import { several } from '../contract/several.ts'
import { codegenFilter, codegenRun, codegenStatuses, type RunWireFields, sourcesShownAs } from '../core/wire-profile.ts'

type Rewrite = (value: unknown) => unknown
type Row = Record<string, unknown>

/** `?status=` by the names of both profiles. */
const codegenStatusFilter = z.string().transform((name, ctx) => {
  const meant = RunStatus.safeParse(name).data ?? codegenFilter(name)
  if (meant === null) ctx.addIssue({ code: 'custom', message: `must be one of ${codegenStatuses.join(', ')}` })
  return meant ?? z.NEVER
})
const codegenListRunsQuery = ListRunsQuery.extend({
  status: several(codegenStatusFilter),
  source_type: several(SourceType.transform(sourcesShownAs)),
})

/** The row by which a request of this profile is parsed. */
export function rowFor(profile: WireProfile, endpoint: Endpoint): Endpoint {
  return profile === 'codegen' && endpoint.query === ListRunsQuery ? { ...endpoint, query: codegenListRunsQuery } : endpoint
}

const rewrites = new WeakMap<z.ZodType, Rewrite | null>()

/** An answer of this shape as a token of this profile is told it: every run in it by the profile's words. */
export function answerFor(profile: WireProfile, schema: z.ZodType, answer: unknown): unknown {
  if (profile === 'standard') return answer
  if (!rewrites.has(schema)) rewrites.set(schema, rewriteOf(schema))
  const rewrite = rewrites.get(schema) ?? null
  return rewrite === null ? answer : rewrite(answer)
}

/** What is to be done to a value of this shape; null where no status of a run can be in it. */
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
  const fields = Object.entries(schema.shape).map(([key, field]) => [key, rewriteOf(field as z.ZodType)] as const)
  const changed = fields.filter((field): field is [string, Rewrite] => field[1] !== null)
  const is_run = schema.shape.status === RunStatus
  if (changed.length === 0 && !is_run) return null
  return value => {
    const row = value as Row
    const inner = changed.map(([key, rewrite]) => [key, rewrite(row[key])])
    return { ...row, ...Object.fromEntries(inner), ...(is_run && codegenRun(row as RunWireFields)) }
  }
}
