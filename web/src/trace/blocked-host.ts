import type { EgressRule } from '../../../src/contract/organizations/egress.ts'
import { numberAt, objectsAt, textAt } from './fields.ts'

type Method = NonNullable<EgressRule['methods']>[number]
const known: Record<Method, true> = {
  GET: true,
  HEAD: true,
  POST: true,
  PUT: true,
  PATCH: true,
  DELETE: true,
  OPTIONS: true,
  CONNECT: true,
}
const isMethod = (name: string | null): name is Method => name !== null && Object.hasOwn(known, name)

/** Egress rules name hosts, not addresses. */
const isAddress = (host: string) => host.includes(':') || /^[0-9.]+$/.test(host)

/**
 * The rule that would have allowed the request of an `egress_blocked`; null where no rule can: an address, a
 * private name, a limit, a setup command.
 */
export function blockedHost(input: unknown, output: unknown): EgressRule | null {
  const [host, port, reason] = [textAt(input, 'host'), numberAt(input, 'port'), textAt(output, 'reason')]
  if (host === null || port === null || isAddress(host) || textAt(input, 'for') === 'setup') return null
  if (reason === 'not_allowed' || reason === 'off') return { host, port, methods: null }
  if (reason !== 'method') return null
  const method = textAt(input, 'method')
  return isMethod(method) ? { host, port, methods: [method] } : null
}

/** One line about a blocked request: the host, or the hosts that were blocked again. */
export function blockedLine(input: unknown, output: unknown): string {
  const name = (source: unknown) =>
    `${textAt(source, 'host') ?? '?'}${numberAt(source, 'port') === null ? '' : `:${numberAt(source, 'port')}`}`
  if (textAt(output, 'reason') !== 'again') return `${textAt(input, 'method') ?? ''} ${name(input)}`.trim()
  const others = numberAt(output, 'others')
  return [
    ...objectsAt(output, 'hosts').map(item => `${name(item)} ×${numberAt(item, 'times') ?? 0}`),
    ...(others === null ? [] : [`${others} others`]),
  ].join(', ')
}
