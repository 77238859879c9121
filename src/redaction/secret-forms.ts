import { SHORTEST_SECRET } from '../core/secrets/known-value.ts'
import { base32Of, base85Forms, decimalForms } from './byte-forms.ts'

const SHORTEST_LINE = 12
const SHORTEST_FORM = 4
/** Longer values are searched for in fewer forms; nobody writes them into a URL. */
const LONG = 1_024
const MAX_LINES = 1_000

/**
 * Returns the texts in which a value may appear, without line ends: as it is, trimmed, reversed, each of its
 * longer lines; base64 at any offset, in both alphabets; base32 and base85; hexadecimal and decimal numbers;
 * wide letters; escaped as in URLs and JSON. Empty for a value that is too short.
 */
export function formsOf(value: string): string[] {
  const whole = withoutLines(value.trim())
  if (Buffer.byteLength(whole) < SHORTEST_SECRET) return []
  const lines = value.split(/[\r\n]+/).map(line => line.trim())
  const long =
    lines.length > 1
      ? lines.filter(line => line.length >= SHORTEST_LINE && !line.startsWith('-----')).slice(0, MAX_LINES)
      : []
  const few = value.length > LONG
  const forms = new Set(
    [value, value.trim()].flatMap(text =>
      few ? longForms(text) : [...longForms(text), ...shortForms(text)],
    ),
  )
  for (const line of long) for (const form of longForms(line)) forms.add(form)
  // Output is searched as bytes too.
  for (const form of [...forms])
    if (/[^\0-\x7f]/.test(form)) forms.add(Buffer.from(form, 'utf8').toString('latin1'))
  return [...forms].map(withoutLines).filter(form => form.length >= SHORTEST_FORM)
}

const withoutLines = (text: string) => text.replace(/[\r\n]+[ \t]*/g, '')

function longForms(text: string): string[] {
  const bytes = Buffer.from(text, 'utf8')
  const base64 = [0, 1, 2].map(before => base64Of(bytes, before))
  return [
    text,
    bytes.toString('latin1'),
    ...base64,
    ...base64.map(form => form.replaceAll('+', '-').replaceAll('/', '_')),
  ]
}

function shortForms(text: string): string[] {
  const bytes = Buffer.from(text, 'utf8')
  const hex = bytes.toString('hex')
  const upper = hex.toUpperCase()
  const twice = [0, 1, 2].map(before => base64Of(Buffer.from(base64Of(bytes, 0)), before))
  const inJson = JSON.stringify(text).slice(1, -1)
  return [
    ...[hex, upper, hex.replace(/../g, '%$&'), upper.replace(/../g, '%$&')],
    ...[inJson, JSON.stringify(inJson).slice(1, -1), inJson.replaceAll('/', '\\/')],
    ...[0, 1, 2, 3, 4].flatMap(before => base32Of(bytes, before)).flatMap(form => [form, form.toLowerCase()]),
    ...[...longForms(backwards(text)), ...[0, 1, 2].map(before => backwards(base64Of(bytes, before)))],
    ...[text.toLowerCase(), text.toUpperCase(), swapped(text), rot13(text), ...twice, ...wideForms(text)],
    ...[...base85Forms(bytes), ...decimalForms(bytes)],
    ...[...urlForms(text), ...htmlForms(text)],
  ]
}
/** Returns the characters that `bytes` alone determine after `before` other bytes in their group of three. */
function base64Of(bytes: Buffer, before: number): string {
  const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
  const first = Math.ceil((before * 8) / 6)
  return encoded.slice(first, Math.floor(((before + bytes.length) * 8) / 6))
}

function urlForms(text: string): string[] {
  const component = encodeURIComponent(text.toWellFormed())
  const strict = component.replace(/[!'()*]/g, char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
  const forms = [component, strict, strict.replaceAll('%2F', '/'), encodeURI(text.toWellFormed())]
  return [...forms, ...forms.map(form => form.replaceAll('%20', '+'))].flatMap(form => [
    form,
    form.replace(/%../g, hex => hex.toLowerCase()),
  ])
}

const backwards = (text: string) => [...text].reverse().join('')

const swapped = (text: string) =>
  text.replace(/\p{L}/gu, letter =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  )

/** In the wide letters of East Asian text (Unicode block FF00), also as raw bytes. */
function wideForms(text: string): string[] {
  const wide = text
    .replace(/[!-~]/g, char => String.fromCharCode(char.charCodeAt(0) + 0xfee0))
    .replaceAll(' ', '\u3000')
  return [wide, Buffer.from(wide, 'utf8').toString('latin1')]
}

function rot13(text: string): string {
  return text.replace(/[a-z]/gi, letter =>
    String.fromCharCode(letter.charCodeAt(0) + (letter.toLowerCase() < 'n' ? 13 : -13)),
  )
}

function htmlForms(text: string): string[] {
  const bare = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  const quoted = bare.replaceAll('"', '&quot;')
  return [bare, quoted, ...['&#39;', '&#x27;', '&apos;'].map(quote => quoted.replaceAll("'", quote))]
}

/** Returns whether a value may occur by accident: it is short, or only letters. */
export const mayBeWord = (value: string): boolean =>
  value.trim().length < 12 || /^[A-Za-z]+(?:[ ._/-][A-Za-z]+)*$/.test(value.trim())
