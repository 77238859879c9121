import { describe, expect, it } from 'vitest'
import { type SeccompArchitecture, seccompProgram } from './seccomp.ts'
import {
  absent_calls,
  first_unknown_call,
  forbidden_calls,
  inspected_calls,
  refused_requests,
} from './seccomp-syscalls.ts'

const architectures: SeccompArchitecture[] = ['x64', 'arm64']
const audit = { x64: 0xc000003e, arm64: 0xc00000b7, i386: 0x40000003, arm: 0x40000028 }

/** Executes the program as the kernel would and returns its result. */
function decide(program: Buffer, architecture: number, number: number, ...parameters: number[]): string {
  const data = Buffer.alloc(64)
  data.writeUInt32LE(number >>> 0, 0)
  data.writeUInt32LE(architecture, 4)
  for (const [index, value] of parameters.entries())
    data.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value)), 16 + index * 8)
  let accumulator = 0
  for (let at = 0; at * 8 < program.length; at++) {
    const code = program.readUInt16LE(at * 8)
    const yes = program.readUInt8(at * 8 + 2)
    const no = program.readUInt8(at * 8 + 3)
    const value = program.readUInt32LE(at * 8 + 4)
    if (code === 0x20) accumulator = data.readUInt32LE(value)
    else if (code === 0x54) accumulator = (accumulator & value) >>> 0
    else if (code === 0x15) at += accumulator === value ? yes : no
    else if (code === 0x35) at += accumulator >= value ? yes : no
    else if (code === 0x45) at += (accumulator & value) !== 0 ? yes : no
    else if (code === 0x06) return actionName(value)
    else throw new Error(`unknown instruction ${code} at ${at}`)
  }
  throw new Error('the program ends without an answer')
}

function actionName(value: number): string {
  if (value === 0x7fff0000) return 'allow'
  if (value === 0x80000000) return 'kill'
  return (
    { 1: 'EPERM', 38: 'ENOSYS', 93: 'EPROTONOSUPPORT', 97: 'EAFNOSUPPORT' }[value & 0xffff] ?? String(value)
  )
}

describe.each(architectures)('the system call filter for %s', architecture => {
  const program = seccompProgram(architecture)
  const native = audit[architecture]
  const decisionOn = (number: number, ...parameters: number[]) =>
    decide(program, native, number, ...parameters)

  it('kills a process that calls by the table of another architecture', () => {
    for (const foreign of Object.values(audit).filter(value => value !== native))
      expect(decide(program, foreign, 1)).toBe('kill')
  })

  it('refuses every forbidden call with EPERM', () => {
    for (const call of Object.values(forbidden_calls)) {
      if (call[architecture] !== null) expect(decisionOn(call[architecture])).toBe('EPERM')
    }
  })

  it('responds like an old kernel to calls whose arguments cannot be inspected and to calls that nobody has reviewed', () => {
    for (const call of Object.values(absent_calls))
      expect(decisionOn(call[architecture] ?? -1)).toBe('ENOSYS')
    expect(decisionOn(first_unknown_call)).toBe('ENOSYS')
    expect(decisionOn(0x3fff_ffff)).toBe('ENOSYS')
  })

  it('lets ordinary programs live', () => {
    const reading_writing_executing = architecture === 'x64' ? [0, 1, 59, 257, 9] : [63, 64, 221, 56, 222]
    for (const number of reading_writing_executing) expect(decisionOn(number)).toBe('allow')
    expect(decisionOn(first_unknown_call - 1)).toBe('allow')
  })

  it('lets a process fork and make threads, but no namespace of any kind', () => {
    const { clone } = inspected_calls
    expect(decisionOn(clone[architecture], 0x11)).toBe('allow')
    expect(decisionOn(clone[architecture], 0x3d0f00)).toBe('allow')
    for (const flag of [0x20000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000]) {
      expect(decisionOn(clone[architecture], flag | 0x11)).toBe('EPERM')
    }
  })

  it('knows unix, internet and route sockets only, and no raw ones', () => {
    const socket = (...parameters: number[]) =>
      decisionOn(inspected_calls.socket[architecture], ...parameters)
    const [unix, inet, inet6, netlink] = [1, 2, 10, 16]
    const [stream, datagram, raw, packet] = [1, 2, 3, 10]
    const close_on_exec = 0o2000000
    expect(socket(unix, stream)).toBe('allow')
    expect(socket(unix, 5)).toBe('allow')
    for (const family of [inet, inet6]) {
      expect(socket(family, stream | close_on_exec)).toBe('allow')
      expect(socket(family, datagram)).toBe('allow')
      expect(socket(family, raw | close_on_exec, 1)).toBe('EPERM')
      expect(socket(family, packet)).toBe('EPERM')
      expect([socket(family, stream, 6), socket(family, datagram | close_on_exec, 17)]).toEqual([
        'allow',
        'allow',
      ])
      // SCTP, MPTCP, SMC, UDP over a stream; ICMP, UDP-Lite, L2TP.
      for (const protocol of [132, 262, 256, 17])
        expect(socket(family, stream, protocol)).toBe('EPROTONOSUPPORT')
      for (const protocol of [1, 58, 136, 115])
        expect(socket(family, datagram, protocol)).toBe('EPROTONOSUPPORT')
    }
    expect(socket(netlink, raw, 0)).toBe('allow')
    expect(socket(netlink, raw, 12)).toBe('EAFNOSUPPORT')
    for (const family of [0, 3, 9, 17, 29, 31, 38, 40, 44])
      expect(socket(family, stream)).toBe('EAFNOSUPPORT')
  })

  it('permits pairs of unix sockets only', () => {
    const pair = (...parameters: number[]) =>
      decisionOn(inspected_calls.socketpair[architecture], ...parameters)
    for (const type of [1, 2, 5, 0o2000001]) expect(pair(1, type)).toBe('allow')
    for (const family of [0, 2, 10, 16, 30, 31, 38, 40, 44]) expect(pair(family, 1)).toBe('EAFNOSUPPORT')
    expect(pair(0x1_0000_0001, 1)).toBe('allow')
  })

  it('lets a process change its own limits and no others', () => {
    const number = inspected_calls.prlimit64[architecture]
    expect([decisionOn(number, 0), decisionOn(number, 1), decisionOn(number, 0x1_0000_0001)]).toEqual([
      'allow',
      'EPERM',
      'EPERM',
    ])
  })

  it('refuses to type into a terminal and to change the personality', () => {
    const ioctl = (request: number) => decisionOn(inspected_calls.ioctl[architecture], 0, request)
    expect(ioctl(0x5401)).toBe('allow')
    expect(ioctl(0x5412)).toBe('EPERM')
    expect(decide(program, native, inspected_calls.ioctl[architecture], 0, 0x1_0000_5412)).toBe('EPERM')
    for (const request of Object.values(refused_requests)) expect(ioctl(request)).toBe('EPERM')
    // A copy of a file that shares its blocks.
    expect(ioctl(0x40049409)).toBe('allow')
    const personality = (value: number) => decisionOn(inspected_calls.personality[architecture], value)
    expect([personality(0), personality(0xffffffff), personality(0x0040000)]).toEqual([
      'allow',
      'allow',
      'EPERM',
    ])
  })
})

it('kills a process that calls by the x32 table', () => {
  expect(decide(seccompProgram('x64'), audit.x64, 0x40000000 + 101)).toBe('kill')
})
