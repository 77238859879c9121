/** The attributes of text of a terminal, by kind, as the parameters that set them. */
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

/** Returns the style after `ESC [ parameters m`. It has at most one value of each kind, whatever a program writes. */
export function styleAfter(style: Style, parameters: string): Style {
  const next = new Map(style)
  const codes = parameters.split(';')
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? ''
    const ended = ENDS[code]
    if (Number(code) === 0) next.clear()
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

/** Returns the sequence that sets a style on text without one. */
export const styleSequence = (style: Style): string => (style.size === 0 ? '' : `\x1b[${[...style.values()].join(';')}m`)
