/** The forbidden forms of a value: itself, and every form that is trivial to decode. */
export function formsToFind(value: string): Record<string, string> {
  const bytes = Buffer.from(value)
  const base64 = (before: number) => {
    const encoded = Buffer.concat([Buffer.alloc(before, 'x'), bytes]).toString('base64')
    return encoded.slice(before === 0 ? 0 : 4, encoded.length - 4)
  }
  const json = JSON.stringify(value).slice(1, -1)
  return {
    raw: value,
    'half of it': value.slice(0, Math.ceil(value.length * 0.6)),
    'base64, first alignment': base64(0),
    'base64, second alignment': base64(1),
    'base64, third alignment': base64(2),
    hexadecimal: bytes.toString('hex'),
    'in a URL': encodeURIComponent(value),
    'in JSON': json,
    'in JSON in JSON': JSON.stringify(json).slice(1, -1),
  }
}

/** The names of the forms that a text holds. */
export const formsIn = (text: string, value: string): string[] =>
  Object.entries(formsToFind(value)).flatMap(([name, form]) => (text.includes(form) ? [name] : []))
