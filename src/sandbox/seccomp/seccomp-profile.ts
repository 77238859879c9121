import { allowed_calls } from './seccomp-allowed.ts'
import { absent_calls, forbidden_calls, internet_protocols, refused_requests } from './seccomp-syscalls.ts'

type Condition = { index: number; value: number; valueTwo?: number; op: 'SCMP_CMP_EQ' | 'SCMP_CMP_MASKED_EQ' }
type Rule = {
  names: string[]
  action: 'SCMP_ACT_ALLOW' | 'SCMP_ACT_ERRNO'
  errnoRet?: number
  args?: Condition[]
}

const EPERM = 1
const ENOSYS = 38
const LOW_WORD = 0xffffffff

/**
 * Returns the filter of `seccompProgram` as a profile of container engines, in their JSON. They use names, so
 * unlisted calls are refused by default; and a call by another architecture's table kills.
 */
export function seccompProfile(): string {
  const refused = (calls: Record<string, unknown>, errnoRet: number): Rule => ({
    names: Object.keys(calls),
    action: 'SCMP_ACT_ERRNO',
    errnoRet,
  })
  const syscalls = [
    refused(forbidden_calls, EPERM),
    refused(absent_calls, ENOSYS),
    { names: allowed_calls, action: 'SCMP_ACT_ALLOW' },
    // No new namespace of any kind.
    when('clone', masked(0, 0x7e020000, 0)),
    when('socket', equal(0, 1)),
    when('socketpair', equal(0, 1)),
    ...[2, 10].flatMap(family =>
      Object.entries(internet_protocols).flatMap(([type, protocols]) =>
        protocols.map(protocol =>
          when('socket', equal(0, family), masked(1, 0xf, Number(type)), equal(2, protocol)),
        ),
      ),
    ),
    when('socket', equal(0, 16), equal(2, 0)),
    // The kernel evaluates only the low word.
    ...allBut(Object.values(refused_requests)).map(({ mask, value }) =>
      when('ioctl', masked(1, mask, value)),
    ),
    when('personality', equal(0, 0)),
    when('personality', equal(0, LOW_WORD)),
    // The limits of the calling process itself.
    when('prlimit64', equal(0, 0)),
  ]
  return JSON.stringify({ defaultAction: 'SCMP_ACT_ERRNO', defaultErrnoRet: ENOSYS, syscalls })
}

const when = (name: string, ...args: Condition[]): Rule => ({ names: [name], action: 'SCMP_ACT_ALLOW', args })
const equal = (index: number, value: number): Condition => ({ index, value, op: 'SCMP_CMP_EQ' })
const masked = (index: number, mask: number, value: number): Condition => ({
  index,
  value: mask,
  valueTwo: value,
  op: 'SCMP_CMP_MASKED_EQ',
})

/**
 * Returns masked comparisons that match every 32-bit word except `values`, each once: prefixes that agree
 * with some of them up to one bit and with none in that bit.
 */
export function allBut(values: number[], bit = 31, prefix = 0): { mask: number; value: number }[] {
  if (bit < 0) return []
  return [0, 1].flatMap(digit => {
    const value = (prefix | (digit << bit)) >>> 0
    const mask = (LOW_WORD << bit) >>> 0
    const left = values.filter(other => (other & mask) >>> 0 === value)
    return left.length === 0 ? [{ mask, value }] : allBut(left, bit - 1, value)
  })
}
