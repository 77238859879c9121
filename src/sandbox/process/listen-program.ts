import type { SeccompArchitecture } from '../seccomp/seccomp.ts'

/** One step of the program: its machine code in hexadecimal, and the same for a person. */
type Step = readonly [code: string, text: string]

const x64: Step[] = [
  ['488b742410 488b6c2418', 'mov rsi, [rsp+16]; mov rbp, [rsp+24] (the two arguments)'],
  ['31db', 'xor ebx, ebx'],
  ['0fb606 83e830 780a', 'digit: movzx eax, [rsi]; sub eax, 48; js parsed'],
  ['6bdb0a 01c3 48ffc6 ebee', 'imul ebx, ebx, 10; add ebx, eax; inc rsi; jmp digit'],
  ['86fb c1e310 83cb02', 'parsed: xchg bl, bh; shl ebx, 16; or ebx, AF_INET'],
  ['b87f000001 48c1e020 4809d8', 'mov eax, 127.0.0.1; shl rax, 32; or rax, rbx'],
  ['6a00 50 4989e5', 'push 0; push rax; mov r13, rsp (struct sockaddr_in)'],
  ['6a02 5f be01080000 31d2 6a29 58 0f05', 'socket(AF_INET, SOCK_STREAM or SOCK_NONBLOCK, 0)'],
  ['4189c4 89c7 4c89ee 6a10 5a 6a31 58 0f05', 'mov r12d, eax; bind(r12d, r13, 16)'],
  ['85c0 7555', 'test eax, eax; jne failed'],
  ['4489e7 beff010000 6a32 58 0f05', 'listen(r12d, 511)'],
  ['85c0 7544', 'test eax, eax; jne failed'],
  ['4889ea 48ffc2 803a00 75f8 4829ea', 'mov rdx, rbp; next: inc rdx; cmp [rdx], 0; jne next; sub rdx, rbp'],
  [
    '4154 48b80100000001000000 50 6a14 4889e1',
    'push r12; push SOL_SOCKET and SCM_RIGHTS; push 20; mov rcx, rsp (struct cmsghdr)',
  ],
  ['52 55 4889e2', 'push rdx; push rbp; mov rdx, rsp (struct iovec)'],
  ['6a00 6a18 51 6a01 52 6a00 6a00 4889e6', 'push 0, 24, rcx, 1, rdx, 0, 0; mov rsi, rsp (struct msghdr)'],
  ['6a07 5f 31d2 6a2e 58 0f05', 'sendmsg(7, rsi, 0)'],
  ['31ff 85c0 7903', 'xor edi, edi; test eax, eax; jns end'],
  ['6a01 5f', 'failed: mov edi, 1'],
  ['6a3c 58 0f05', 'end: exit(edi)'],
]

const arm64: Step[] = [
  ['f40b40f9 f50f40f9', 'ldr x20, [sp, 16]; ldr x21, [sp, 24] (the two arguments)'],
  ['16008052 57018052', 'mov w22, 0; mov w23, 10'],
  ['80164038 00c00071 64000054', 'digit: ldrb w0, [x20], 1; subs w0, w0, 48; b.mi parsed'],
  ['d602171b fcffff17', 'madd w22, w22, w23, w0; b digit'],
  ['d60ac05a d67e1053', 'parsed: rev w22, w22; lsr w22, w22, 16'],
  ['58008052 1843162a', 'mov w24, AF_INET; orr w24, w24, w22, lsl 16'],
  ['f90f8052 1920a072 188319aa', 'mov w25, 127.0.0.1; orr x24, x24, x25, lsl 32'],
  ['f87fbfa9', 'stp x24, xzr, [sp, -16]! (struct sockaddr_in)'],
  ['400080d2 210081d2 020080d2 c81880d2 010000d4', 'socket(AF_INET, SOCK_STREAM or SOCK_NONBLOCK, 0)'],
  ['f303002a e1030091 020280d2 081980d2 010000d4', 'mov w19, w0; bind(w19, sp, 16)'],
  ['00040035', 'cbnz w0, failed'],
  ['e003132a e13f80d2 281980d2 010000d4', 'listen(w19, 511)'],
  ['60030035', 'cbnz w0, failed'],
  [
    'e20315aa 401c4038 e0ffff35 420015cb',
    'mov x2, x21; next: ldrb w0, [x2, 1]!; cbnz w0, next; sub x2, x2, x21',
  ],
  ['830280d2 240080d2 2400c0f2', 'mov x3, 20; mov x4, SOL_SOCKET and SCM_RIGHTS'],
  [
    'f37fbfa9 e313bfa9 e5030091',
    'stp x19, xzr, [sp, -16]!; stp x3, x4, [sp, -16]!; mov x5, sp (struct cmsghdr)',
  ],
  ['f50bbfa9 e6030091', 'stp x21, x2, [sp, -16]!; mov x6, sp (struct iovec)'],
  ['070380d2 290080d2', 'mov x7, 24; mov x9, 1'],
  ['e77fbfa9 e917bfa9 ff1bbfa9', 'stp x7, xzr, [sp, -16]!; stp x9, x5, [sp, -16]!; stp xzr, x6, [sp, -16]!'],
  ['ff0f1ff8 e1230091 ff0700f9', 'str xzr, [sp, -16]!; add x1, sp, 8; str xzr, [x1] (struct msghdr)'],
  ['e00080d2 020080d2 681a80d2 010000d4', 'sendmsg(7, x1, 0)'],
  ['007c1f53 02000014', 'lsr w0, w0, 31; b end'],
  ['20008052', 'failed: mov w0, 1'],
  ['a80b80d2 010000d4', 'end: exit(w0)'],
]

const machines = { x64: { number: 62, steps: x64 }, arm64: { number: 183, steps: arm64 } }
const ADDRESS = 0x400000
const HEADERS = 64 + 56

/**
 * Returns the program `listen PORT MESSAGE`, which listens on 127.0.0.1:PORT and sends the socket with
 * MESSAGE over descriptor 7; exit code 1: it could not. Machine code, because no shell can pass a descriptor
 * on, and a Node for it costs more than the rest of a sandbox.
 */
export function listenProgram(architecture: SeccompArchitecture): Buffer {
  const { number, steps } = machines[architecture]
  const code = Buffer.from(steps.map(([hexadecimal]) => hexadecimal.replaceAll(' ', '')).join(''), 'hex')
  const file = Buffer.concat([Buffer.alloc(HEADERS), code])
  // The header of an ELF file: 64 bit, little endian, executable, one segment, no sections.
  file.write('\x7fELF\x02\x01\x01', 'latin1')
  file.writeUInt16LE(2, 16)
  file.writeUInt16LE(number, 18)
  file.writeUInt32LE(1, 20)
  file.writeBigUInt64LE(BigInt(ADDRESS + HEADERS), 24)
  file.writeBigUInt64LE(64n, 32)
  for (const [at, value] of [64, 56, 1].entries()) file.writeUInt16LE(value, 52 + 2 * at)
  // Its segment: the whole file, readable and executable, at ADDRESS.
  file.writeUInt32LE(1, 64)
  file.writeUInt32LE(5, 68)
  for (const at of [80, 88]) file.writeBigUInt64LE(BigInt(ADDRESS), at)
  for (const at of [96, 104]) file.writeBigUInt64LE(BigInt(file.length), at)
  file.writeBigUInt64LE(0x10000n, 112)
  return file
}
