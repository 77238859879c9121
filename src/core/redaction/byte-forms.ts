/** Alphabets of base85: of Python's `b85encode` and git, of Adobe and `a85encode`, and of ZeroMQ (RFC 32). */
const BASE85 = [
  '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~',
  Array.from({ length: 85 }, (_, digit) => String.fromCharCode(33 + digit)).join(''),
  '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#',
]
/** Characters of two groups: of one there are as many in any text. */
const MIN_BASE85 = 10

/** In base85, wherever in what was encoded the value begins: the characters of the groups of four bytes that are all of it. */
export function base85Forms(bytes: Buffer): string[] {
  const forms = [0, 1, 2, 3].flatMap(skipped => BASE85.map(alphabet => base85Of(bytes.subarray(skipped), alphabet)))
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

/** As decimal numbers: byte by byte, without what separates them; and all of it as one number, from either end. */
export function decimalForms(bytes: Buffer): string[] {
  const whole = [bytes, Buffer.from(bytes).reverse()].map(all => BigInt(`0x${all.toString('hex')}`).toString())
  return [[...bytes].join(''), ...whole]
}

/** In groups of five bytes (RFC 4648 §6): the characters that the value alone decides, behind `before` other bytes. */
export function base32Of(bytes: Buffer, before: number): string {
  const bits = [...Buffer.alloc(before), ...bytes].map(byte => byte.toString(2).padStart(8, '0')).join('')
  const digits = bits.match(/.{5}/g) ?? []
  return digits
    .map(digit => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[Number.parseInt(digit, 2)])
    .slice(Math.ceil((before * 8) / 5))
    .join('')
}
