/** Base85 alphabets: of Python's `b85encode` and git, of Adobe and `a85encode`, and of ZeroMQ (RFC 32). */
const BASE85 = [
  '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~',
  Array.from({ length: 85 }, (_, digit) => String.fromCharCode(33 + digit)).join(''),
  '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#',
]
/** Characters of two groups: of one there are as many in any text. */
const MIN_BASE85 = 10

/**
 * Returns the base85 characters that encode only bytes of the value, for every offset at which the value can
 * begin in the encoded data.
 */
export function base85Forms(bytes: Buffer): string[] {
  const forms = [0, 1, 2, 3].flatMap(skipped =>
    BASE85.map(alphabet => base85Of(bytes.subarray(skipped), alphabet)),
  )
  return forms.filter(form => form.length >= MIN_BASE85)
}

function base85Of(bytes: Buffer, alphabet: string): string {
  let form = ''
  for (let at = 0; at + 4 <= bytes.length; at += 4) {
    const group = bytes.readUInt32BE(at)
    for (const power of [85 ** 4, 85 ** 3, 85 ** 2, 85, 1]) form += alphabet[Math.floor(group / power) % 85]
  }
  return form
}

/**
 * Returns the value as decimal numbers: byte by byte without separators, and as one number in both byte
 * orders.
 */
export function decimalForms(bytes: Buffer): string[] {
  const whole = [bytes, Buffer.from(bytes).reverse()].map(all =>
    BigInt(`0x${all.toString('hex')}`).toString(),
  )
  return [[...bytes].join(''), ...whole]
}

/** Returns the base32 characters (RFC 4648 §6) that the value alone determines after `before` other bytes. */
export function base32Of(bytes: Buffer, before: number): string {
  const bits = [...Buffer.alloc(before), ...bytes].map(byte => byte.toString(2).padStart(8, '0')).join('')
  const digits = bits.match(/.{5}/g) ?? []
  return digits
    .map(digit => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[Number.parseInt(digit, 2)])
    .slice(Math.ceil((before * 8) / 5))
    .join('')
}
