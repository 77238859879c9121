import {
  absent_calls,
  first_unknown_call,
  forbidden_calls,
  inspected_calls,
  internet_protocols,
  refused_requests,
} from './seccomp-syscalls.ts'

export type SeccompArchitecture = 'x64' | 'arm64'

const audit_architecture = { x64: 0xc000003e, arm64: 0xc00000b7 }

/** One instruction of classic BPF; `yes` and `no` are how many instructions a jump skips. */
type Instruction = { code: number; yes: number; no: number; value: number }

const load_word = 0x20
const and_with = 0x54
const jump_equal = 0x15
const jump_at_least = 0x35
const jump_any_bit = 0x45
const finish = 0x06

const allow = 0x7fff0000
const kill_process = 0x80000000
const refuse_with = (errno: number) => 0x00050000 | errno
const EPERM = 1
const ENOSYS = 38
const EPROTONOSUPPORT = 93
const EAFNOSUPPORT = 97

// Offsets in struct seccomp_data: the call's number, the architecture and the lower half of each argument.
const number_at = 0
const architecture_at = 4
const argument_at = (index: number) => 16 + index * 8

const load = (offset: number): Instruction => ({ code: load_word, yes: 0, no: 0, value: offset })
const mask = (bits: number): Instruction => ({ code: and_with, yes: 0, no: 0, value: bits })
const returnAction = (value: number): Instruction => ({ code: finish, yes: 0, no: 0, value })

/** `body` runs when the test is true, otherwise it is skipped. */
const when = (code: number, value: number, body: Instruction[]): Instruction[] => [
  { code, yes: 0, no: body.length, value },
  ...body,
]
const unless = (code: number, value: number, body: Instruction[]): Instruction[] => [
  { code, yes: body.length, no: 0, value },
  ...body,
]

/**
 * Returns the filter for every process of a sandbox, in the format of `bwrap --seccomp` (an array of struct
 * sock_filter, little endian). A call by another architecture's table, x32 included, kills the process; a
 * forbidden one fails with an error the caller can report.
 */
export function seccompProgram(architecture: SeccompArchitecture): Buffer {
  const refuse = (calls: typeof forbidden_calls, errno: number) =>
    Object.values(calls).flatMap(call =>
      call[architecture] === null
        ? []
        : when(jump_equal, call[architecture], [returnAction(refuse_with(errno))]),
    )
  const inspect = (name: keyof typeof inspected_calls, body: Instruction[]) =>
    when(jump_equal, inspected_calls[name][architecture], body)
  const program = [
    load(architecture_at),
    ...unless(jump_equal, audit_architecture[architecture], [returnAction(kill_process)]),
    load(number_at),
    ...(architecture === 'x64' ? when(jump_at_least, 0x40000000, [returnAction(kill_process)]) : []),
    ...when(jump_at_least, first_unknown_call, [returnAction(refuse_with(ENOSYS))]),
    ...refuse(forbidden_calls, EPERM),
    ...refuse(absent_calls, ENOSYS),
    ...inspect('clone', clone_rules),
    ...inspect('socket', socket_rules),
    ...inspect('socketpair', pair_rules),
    ...inspect('ioctl', ioctl_rules),
    ...inspect('personality', personality_rules),
    ...inspect('prlimit64', limit_rules),
    returnAction(allow),
  ]
  return encode(program)
}

/** No new namespace of any kind: CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const clone_rules = [
  load(argument_at(0)),
  ...when(jump_any_bit, 0x7e020000, [returnAction(refuse_with(EPERM))]),
  returnAction(allow),
]

/**
 * Unix sockets; TCP and UDP over IPv4 and IPv6; the route part of netlink. AF_VSOCK, which reaches the
 * hypervisor, and the rest do not exist.
 */
const internet_rules = [
  load(argument_at(1)),
  mask(0xf),
  ...Object.entries(internet_protocols).flatMap(([type, protocols]) =>
    when(jump_equal, Number(type), [
      load(argument_at(2)),
      ...protocols.flatMap(protocol => when(jump_equal, protocol, [returnAction(allow)])),
      returnAction(refuse_with(EPROTONOSUPPORT)),
    ]),
  ),
  returnAction(refuse_with(EPERM)),
]
const socket_rules = [
  load(argument_at(0)),
  ...when(jump_equal, 1, [returnAction(allow)]),
  ...when(jump_equal, 2, internet_rules),
  ...when(jump_equal, 10, internet_rules),
  ...when(jump_equal, 16, [load(argument_at(2)), ...when(jump_equal, 0, [returnAction(allow)])]),
  returnAction(refuse_with(EAFNOSUPPORT)),
]

/** Unix sockets only: other families with socket pairs, such as TIPC, are not permitted anyway. */
const pair_rules = [
  load(argument_at(0)),
  ...when(jump_equal, 1, [returnAction(allow)]),
  returnAction(refuse_with(EAFNOSUPPORT)),
]

const ioctl_rules = [
  load(argument_at(1)),
  ...Object.values(refused_requests).flatMap(request =>
    when(jump_equal, request, [returnAction(refuse_with(EPERM))]),
  ),
  returnAction(allow),
]

/** Only the default personality, and reading the current one. */
const personality_rules = [
  load(argument_at(0)),
  ...when(jump_equal, 0, [returnAction(allow)]),
  ...when(jump_equal, 0xffffffff, [returnAction(allow)]),
  returnAction(refuse_with(EPERM)),
]

/**
 * The limits of the calling process itself. Those of process 1 must not be lowered: the kernel would kill it
 * for exceeding its CPU time.
 */
const limit_rules = [
  load(argument_at(0)),
  ...when(jump_equal, 0, [returnAction(allow)]),
  returnAction(refuse_with(EPERM)),
]

function encode(program: Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8)
  for (const [index, { code, yes, no, value }] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8)
    bytes.writeUInt8(yes, index * 8 + 2)
    bytes.writeUInt8(no, index * 8 + 3)
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4)
  }
  return bytes
}
