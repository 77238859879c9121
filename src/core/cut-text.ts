/** Keeps head and tail of a text that is too long, and says between them how much is missing. */
export function cutText(text: string, most: number): { text: string; cut: boolean } {
  if (text.length <= most) return { text, cut: false }
  const half = Math.floor(most / 2)
  const head = text.slice(0, half).toWellFormed()
  const tail = text.slice(-half).toWellFormed()
  return { text: `${head}\n… ${text.length - 2 * half} characters left out …\n${tail}`, cut: true }
}

/** The strings of a JSON value cut, each on its own and all together bounded by `most`; for what goes into a trace or back to a model. */
export function cutStrings(value: unknown, most: number): { value: unknown; cut: boolean } {
  let cut = false
  let left = most
  const walk = (item: unknown, depth: number): unknown => {
    if (typeof item === 'string') {
      const result = cutText(item, Math.max(200, left))
      left -= result.text.length
      cut ||= result.cut
      return result.text
    }
    if (typeof item !== 'object' || item === null) return item
    if (depth > 20) {
      cut = true
      return Array.isArray(item) ? [] : {}
    }
    if (Array.isArray(item)) return item.map(part => walk(part, depth + 1))
    return Object.fromEntries(Object.entries(item).map(([key, part]) => [key, walk(part, depth + 1)]))
  }
  return { value: walk(value, 0), cut }
}
