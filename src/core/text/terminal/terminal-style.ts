/**
 * The attributes of text of a terminal, by kind, as the parameters that set them. Those of kind `link` are
 * the address of a hyperlink.
 */
export type Style = ReadonlyMap<string, string>

export const PLAIN: Style = new Map()

const ENDS: Record<string, string> = {
  '22': 'weight',
  '23': 'italic',
  '24': 'underline',
  '27': 'inverse',
  '29': 'strike',
  '39': 'foreground',
  '49': 'background',
}

/**
 * Returns the style after `ESC [ parameters m`. It has at most one value of each kind, whatever a program
 * writes.
 */
export function styleAfter(style: Style, parameters: string): Style {
  const next = new Map(style)
  const codes = parameters.split(';')
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? ''
    const ended = ENDS[code]
    if (Number(code) === 0) clearAttributes(next)
    else if (ended !== undefined) next.delete(ended)
    else if (code === '38' || code === '48') {
      // A colour by number, or by its three parts.
      const length = codes[at + 1] === '5' ? 3 : 5
      next.set(kindOf(code) ?? code, codes.slice(at, at + length).join(';'))
      at += length - 1
    } else {
      const kind = kindOf(code)
      if (kind !== null) next.set(kind, code)
    }
  }
  return next
}

const MAX_ADDRESS_CHARS = 2_083
const HYPERLINK = /^8;[^;]*;([!-~]*)$/

/**
 * Returns the style after a string of the operating system command 8, which begins or ends a hyperlink; any
 * other string changes nothing.
 */
export function styleAfterCommand(style: Style, content: string): Style {
  const address = HYPERLINK.exec(content)?.[1]
  if (address === undefined || address === (style.get('link') ?? '')) return style
  const next = new Map(style)
  next.delete('link')
  if (address !== '' && address.length <= MAX_ADDRESS_CHARS) next.set('link', address)
  return next
}

/** A hyperlink is not an attribute: only its own end ends it. */
function clearAttributes(style: Map<string, string>): void {
  const link = style.get('link')
  style.clear()
  if (link !== undefined) style.set('link', link)
}

function kindOf(code: string): string | null {
  const number = Number.parseInt(code, 10)
  if (number === 1 || number === 2) return 'weight'
  if (number === 3) return 'italic'
  if (number === 4) return 'underline'
  if (number === 7) return 'inverse'
  if (number === 9) return 'strike'
  if ((number >= 30 && number <= 38) || (number >= 90 && number <= 97)) return 'foreground'
  if ((number >= 40 && number <= 48) || (number >= 100 && number <= 107)) return 'background'
  return null
}

/**
 * Returns the sequences between text of two styles. A hyperlink ends before the attributes change, and begins
 * after it.
 */
export function styleChange(from: Style, to: Style): string {
  const [link, attributes] = [from.get('link'), attributesOf(to)]
  const ended = link === undefined || link === to.get('link') ? '' : END_OF_LINK
  const reset = attributesOf(from) === '' || attributesOf(from) === attributes ? '' : '\x1b[0m'
  const set = attributes === '' || attributesOf(from) === attributes ? '' : `\x1b[${attributes}m`
  const begun =
    to.get('link') === undefined || link === to.get('link') ? '' : `\x1b]8;;${to.get('link')}\x1b\\`
  return `${ended}${reset}${set}${begun}`
}

const END_OF_LINK = '\x1b]8;;\x1b\\'
const attributesOf = (style: Style) =>
  [...style].flatMap(([kind, value]) => (kind === 'link' ? [] : [value])).join(';')

export function withoutLink(style: Style): Style {
  if (!style.has('link')) return style
  const next = new Map(style)
  next.delete('link')
  return next.size === 0 ? PLAIN : next
}
