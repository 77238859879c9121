import { z } from 'zod'
import { mirror_kinds, readMirror } from '../core/network/package-mirrors.ts'
import { readKey } from '../core/secrets/sealing.ts'

/**
 * The forms that variables of the service have (docs/reference/configuration.md). Messages never repeat a
 * value.
 */
export const text = z.string().min(1)
export const list = text.transform(value =>
  value
    .split(',')
    .map(item => item.trim())
    .filter(item => item.length > 0),
)
export const yes = z
  .enum(['0', '1', 'true', 'false'], { error: 'must be 1 or 0' })
  .transform(value => value === '1' || value === 'true')
export const whole = (min: number, max: number) =>
  text
    .regex(/^\d{1,15}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine(value => value >= min && value <= max, `must be a whole number from ${min} to ${max}`)
export const MAX_BYTES = 99_999_999_999_999
/** A size of 100 kB or more. */
export const bytes = whole(100_000, MAX_BYTES)
export const bytesOrNone = whole(0, MAX_BYTES)
export const httpUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .transform(value => value.replace(/(?<!\/)\/+$/, ''))
export const modelName = text.regex(
  /^[a-z-]+\/.+$/,
  'must be provider/model, for example anthropic/claude-sonnet-4-5',
)
export const kubernetesName = text
  .max(253)
  .regex(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/, 'must be the name of an object of Kubernetes')
/** 32 bytes. */
export const secretKey = text.transform((value, ctx) => {
  const key = readKey(value)
  if (key === null) ctx.addIssue('must be 32 bytes, as 64 hexadecimal digits or base64')
  return key ?? z.NEVER
})
/** Such keys, with commas between them. */
export const secretKeys = list.transform((values, ctx) =>
  values.map(value => {
    const key = readKey(value)
    if (key === null)
      ctx.addIssue('must be keys of 32 bytes, as 64 hexadecimal digits or base64, with commas between them')
    return key ?? z.NEVER
  }),
)
/** `60/30`: 60 requests in 30 seconds; `off`: no limit. */
export const rate = text
  .regex(
    /^(\d{1,7}\/\d{1,6}|off)$/,
    'must be requests/seconds, for example 60/30 (at most 9999999/999999), or off',
  )
  .transform(value => {
    const [requests = 0, seconds = 0] = value.split('/').map(Number)
    return value === 'off' ? null : { requests, seconds }
  })

/** `name=value,name=value`, percent-encoded, as OpenTelemetry writes them. */
export const pairs = text.transform((value, ctx) => {
  try {
    return Object.fromEntries(
      value
        .split(',')
        .filter(item => item.trim() !== '')
        .map(item => {
          const [, name = '', content = ''] = /^([^=\s]+)\s*=(.*)$/.exec(item.trim()) ?? []
          if (name === '') throw new Error('no name')
          return [decodeURIComponent(name), decodeURIComponent(content.trim())]
        }),
    )
  } catch {
    ctx.addIssue('must be name=value pairs with commas between them')
    return z.NEVER
  }
})
/** `npm=https://…,pypi=https://…`: copies of package registries. */
export const mirrors = list.transform((items, ctx) =>
  items.map(item => {
    const mirror = readMirror(item)
    if (mirror !== null) return mirror
    ctx.addIssue(
      `must be ${mirror_kinds.join(', ')} = an http or https URL without a user and not of this machine's loopback, which a sandbox has one of its own of, with commas between them`,
    )
    return z.NEVER
  }),
)
export const otlpProtocol = z.enum(['http/protobuf'], { error: 'must be http/protobuf' })
export const sampler_names = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const
