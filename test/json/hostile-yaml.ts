type HostileText = { name: string; text: string }

const times = (text: string, bytes: number) => text.repeat(Math.max(1, Math.floor(bytes / text.length)))
const levels = (bytes: number) => Math.floor(bytes / 2)

/** YAML that is cheap to send, as a map with one key, of about `bytes`. Not all are valid. */
export const hostileYaml = (bytes: number): HostileText[] => [
  { name: 'empty maps in a flow', text: `a: [${times('{},', bytes)}]` },
  { name: 'empty lists in a flow', text: `a: [${times('[],', bytes)}]` },
  { name: 'empty items', text: `a:\n${times('- \n', bytes)}` },
  { name: 'empty keys', text: times('? \n', bytes) },
  { name: 'digits', text: `a: [${times('1,', bytes)}]` },
  { name: 'many keys', text: Array.from({ length: bytes / 8 }, (_, i) => `${i.toString(36)}: 0`).join('\n') },
  { name: 'one key many times', text: times('a: 0\n', bytes) },
  { name: 'deep lists', text: `a: ${'['.repeat(levels(bytes))}${']'.repeat(levels(bytes))}` },
  { name: 'deep blocks', text: `a:\n ${'- '.repeat(levels(bytes))}x` },
  { name: 'brackets as keys', text: `a: ${times('{[', bytes)}` },
  { name: 'aliases', text: `a: &a [x]\nb: [${times('*a,', bytes)}]` },
  {
    name: 'aliases of aliases',
    text: Array.from({ length: 60 }, (_, i) => `k${i}: &k${i} [${times(`*k${i - 1},`, bytes / 60)}]`)
      .join('\n')
      .replace(/\*k-1,/g, 'x,'),
  },
  { name: 'anchors', text: `a: [${times('&a x,', bytes)}]` },
  { name: 'merges', text: `a: &a {x: 1}\nb:\n${times('  <<: *a\n', bytes)}` },
  { name: 'tags', text: `a: [${times('!!str x,', bytes)}]` },
  { name: 'comments', text: `a: 1\n${times('#\n', bytes)}` },
  { name: 'blanks', text: `a: 1${times(' \t', bytes)}` },
  { name: 'line ends', text: `a: 1\n${times('\n', bytes)}` },
  { name: 'colons', text: `a: ${times(': ', bytes)}` },
  { name: 'quotes', text: `a: [${times('"",', bytes)}]` },
  { name: 'an open quote', text: `a: "${times('x ', bytes)}` },
  { name: 'documents', text: times('--- {}\n', bytes) },
]

/** The same of TOML. */
export const hostileToml = (bytes: number): HostileText[] => [
  { name: 'empty tables in a list', text: `a = [${times('{},', bytes)}]` },
  { name: 'empty lists', text: `a = [${times('[],', bytes)}]` },
  { name: 'digits', text: `a = [${times('1,', bytes)}]` },
  { name: 'many keys', text: Array.from({ length: bytes / 8 }, (_, i) => `k${i.toString(36)}=0`).join('\n') },
  { name: 'tables', text: Array.from({ length: bytes / 8 }, (_, i) => `[t${i.toString(36)}]`).join('\n') },
  { name: 'lists of tables', text: times('[[a]]\n', bytes) },
  { name: 'deep lists', text: `a = ${'['.repeat(levels(bytes))}${']'.repeat(levels(bytes))}` },
  { name: 'deep tables', text: `a = ${times('{a=', bytes)}` },
  { name: 'a dotted key', text: `${times('a.', bytes)}b = 1` },
  { name: 'comments', text: times('#\n', bytes) },
  { name: 'an open text', text: `a = "${times('x', bytes)}` },
]
