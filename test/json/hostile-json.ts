/** A JSON text that is cheap to send. */
type HostileJson = { name: string; text: string }

const list = (item: string, count: number) => `[${Array(count).fill(item).join()}]`
const object = (member: (i: number) => string, count: number) =>
  `{${Array.from({ length: count }, (_, i) => member(i)).join()}}`

/**
 * What somebody may send to keep a parser, or what follows it, occupied: each text has about `bytes`. Not all
 * are valid JSON.
 */
export function hostileJson(bytes: number): HostileJson[] {
  const items = Math.floor(bytes / 3)
  const levels = Math.floor(bytes / 2)
  const room = (text: string) => text.repeat(Math.floor(bytes / text.length))
  return [
    { name: 'empty objects', text: list('{}', items) },
    { name: 'empty lists', text: list('[]', items) },
    { name: 'empty texts', text: list('""', items) },
    { name: 'digits', text: list('1', levels) },
    { name: 'nulls', text: list('null', Math.floor(bytes / 5)) },
    { name: 'objects with one wrong member', text: list('{"type":1}', Math.floor(bytes / 11)) },
    { name: 'texts without text', text: list('{"type":"text"}', Math.floor(bytes / 16)) },
    { name: 'many keys', text: object(i => `"${i.toString(36)}":0`, Math.floor(bytes / 8)) },
    { name: 'many numbers as keys', text: object(i => `"${i * 7_919}":0`, Math.floor(bytes / 12)) },
    { name: 'one key many times', text: object(() => '"a":0', Math.floor(bytes / 6)) },
    {
      name: 'keys of prototypes',
      text: object(i => `"__proto__":{"constructor":${i}}`, Math.floor(bytes / 32)),
    },
    { name: 'deep lists', text: '['.repeat(levels) + ']'.repeat(levels) },
    { name: 'deep objects', text: `${'{"a":'.repeat(levels / 3)}1${'}'.repeat(levels / 3)}` },
    {
      name: 'wide at each of 60 levels',
      text: `${`[${'{},'.repeat(items / 60)}`.repeat(60)}1${']'.repeat(60)}`,
    },
    { name: 'brackets that are never closed', text: '[{"a":'.repeat(Math.floor(bytes / 6)) },
    { name: 'commas', text: `[${','.repeat(bytes)}]` },
    { name: 'blanks', text: `[${' \t\n\r'.repeat(bytes / 4).replaceAll(/[\n\r]/g, ' ')}1]` },
    { name: 'a long number', text: '1'.repeat(bytes) },
    { name: 'a long fraction', text: `[0.${'1'.repeat(bytes)}]` },
    { name: 'a huge exponent', text: `[1e${'9'.repeat(bytes)}]` },
    { name: 'a long text', text: `"${room('a')}"` },
    { name: 'escapes', text: `"${room('\\u0041')}"` },
    { name: 'escaped quotes', text: `"${room('\\"')}"` },
    { name: 'backslashes', text: `"${room('\\\\')}"` },
    { name: 'half surrogate pairs', text: `"${room('\\ud800')}"` },
    { name: 'a long key', text: `{"${room('k')}":1}` },
  ]
}
