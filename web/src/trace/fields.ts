/** Reading of tool inputs, outputs and observations, whose shape depends on the tool and may be anything. */

type Json = Record<string, unknown>

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value of the first of these keys that has a non-empty string. */
export function textAt(source: unknown, ...keys: string[]): string | null {
  if (!isObject(source)) return null
  for (const key of keys) {
    const value = source[key]
    if (typeof value === 'string' && value !== '') return value
  }
  return null
}

/** The value of the first of these keys that has a number. */
export function numberAt(source: unknown, ...keys: string[]): number | null {
  if (!isObject(source)) return null
  for (const key of keys) {
    const value = source[key]
    if (typeof value === 'number' && Number.isFinite(value)) return value
  }
  return null
}

/** The objects of the list under this key; anything else in it is left out. */
export function objectsAt(source: unknown, key: string): Json[] {
  const list = isObject(source) ? source[key] : null
  return Array.isArray(list) ? list.filter(isObject) : []
}
