import { AnsiUp } from 'ansi_up'
import { httpLink } from './links.ts'
import { visible } from './visible.ts'

/** A part of terminal output with one style. The 16 standard colours are classes; others are CSS colours. */
type AnsiPart = { text: string; classes: string; color?: string; background?: string; href?: string }

const tag = /<(\/?)(span|a)((?:\s+[a-z]+="[^"<>]*")*)>/g
const attribute = /(?<![a-z])([a-z]+)="([^"]*)"/g
const entities: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#x27;': "'",
}
const plain = (html: string) =>
  html.replace(/&(?:amp|lt|gt|quot|#x27);/g, entity => entities[entity] ?? entity)
/**
 * Any OSC string, ended by BEL or ST: titles, clipboard writes, notifications. Hyperlinks (OSC 8) are left to
 * ansi_up.
 */
const osc = /\u001b\](?!8;)[^\u0007\u001b]*(?:\u0007|\u001b\\)?/g
/**
 * The beginning of a hyperlink that does not end, for which ansi_up would search the rest of the text each
 * time.
 */
const unfinished_link = /\u001b\]8;(?![^\u0007\u001b]*(?:\u0007|\u001b\\))/g
/** DCS, SOS, PM and APC strings. */
const device_strings = /\u001b[PX^_][^\u001b]*(?:\u001b\\)?/g

/**
 * Terminal output as parts to render as text: it is never turned into HTML. ansi_up reads the escape
 * sequences; what it writes is taken apart again by its closed grammar (escaped text in `span` and `a`), so
 * that nothing can become markup.
 */
export function ansiParts(output: string): AnsiPart[] {
  const reader = new AnsiUp()
  reader.use_classes = true
  // The line feed ends a sequence that was cut off: without it ansi_up would keep back everything after it.
  const text = `${overwritten(output.replace(osc, '').replace(unfinished_link, '').replace(device_strings, ''))}\n`
  const parts = inverseSections(text).flatMap(section => {
    const html = reader.ansi_to_html(section.text)
    return section.inverse ? partsOf(html).map(inverted) : partsOf(html)
  })
  return withoutLastLineFeed(parts)
}

const inverted = ({ background: _, ...part }: AnsiPart): AnsiPart => ({
  ...part,
  classes: `${part.classes} ansi-inverse`.trimStart(),
})

function withoutLastLineFeed(parts: AnsiPart[]): AnsiPart[] {
  const last = parts.at(-1)
  if (!last?.text.endsWith('\n')) return parts
  const text = last.text.slice(0, -1)
  return [...parts.slice(0, -1), ...(text === '' ? [] : [{ ...last, text }])]
}

const sgr = /\u001b\[([\d;]*)m/g

/** The text, divided where inverse video begins and ends, which ansi_up does not know. */
function inverseSections(text: string): { text: string; inverse: boolean }[] {
  const sections: { text: string; inverse: boolean }[] = []
  let [start, inverse] = [0, false]
  for (const { index, 1: parameters = '' } of text.matchAll(sgr)) {
    const next = inverseAfter(parameters.split(';').map(Number), inverse)
    if (next === inverse) continue
    sections.push({ text: text.slice(start, index), inverse })
    start = index
    inverse = next
  }
  return [...sections, { text: text.slice(start), inverse }]
}

function inverseAfter(codes: number[], before: boolean): boolean {
  let inverse = before
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at]
    if (code === 7) inverse = true
    if (code === 0 || code === 27) inverse = false
    // The parameters of a colour: `5;n` or `2;r;g;b`.
    if (code === 38 || code === 48) at += codes[at + 1] === 5 ? 2 : 4
  }
  return inverse
}

function partsOf(html: string): AnsiPart[] {
  const parts: AnsiPart[] = []
  let style: Omit<AnsiPart, 'text'> = { classes: '' }
  let end = 0
  const push = (escaped: string) => {
    if (escaped) parts.push({ ...style, text: visible(plain(escaped)) })
  }
  for (const match of html.matchAll(tag)) {
    push(html.slice(end, match.index))
    end = match.index + match[0].length
    style = match[1] ? { classes: '' } : styleOf(match[3] ?? '')
  }
  push(html.slice(end))
  return parts
}

function styleOf(attributes: string): Omit<AnsiPart, 'text'> {
  const style: Omit<AnsiPart, 'text'> = { classes: '' }
  const classes: string[] = []
  for (const [, key, value = ''] of attributes.matchAll(attribute)) {
    if (key === 'class') classes.push(...value.split(' ').filter(word => /^ansi-[a-z-]+-[fb]g$/.test(word)))
    if (key === 'href') style.href = httpLink(plain(value)) ?? undefined
    if (key !== 'style') continue
    for (const rule of value.split(';')) {
      const rgb = /^(background-)?color:(rgb\(\d{1,3},\d{1,3},\d{1,3}\))$/.exec(rule)
      if (rgb?.[1]) style.background = rgb[2]
      else if (rgb) style.color = rgb[2]
      else classes.push(styles[rule] ?? '')
    }
  }
  style.classes = classes.filter(Boolean).join(' ')
  return style
}

const styles: Record<string, string> = {
  'font-weight:bold': 'ansi-bold',
  'opacity:0.7': 'ansi-faint',
  'font-style:italic': 'ansi-italic',
  'text-decoration:underline': 'ansi-underline',
}

/**
 * Progress bars rewrite their line by carriage returns: only what a terminal would still show is kept. No
 * pattern: with a thousand carriage returns it would begin at each of them again.
 */
function overwritten(text: string): string {
  const shown = (line: string) => line.slice(line.lastIndexOf('\r') + 1)
  return text
    .replace(/\r+/g, '\r')
    .split('\n')
    .map(line => shown(line.endsWith('\r') ? line.slice(0, -1) : line))
    .join('\n')
}

/** The same output without any escape sequence, for copying and one-line summaries. */
export const withoutAnsi = (output: string) =>
  ansiParts(output)
    .map(part => part.text)
    .join('')
