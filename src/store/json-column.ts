import { z } from 'zod'
import { storedJson } from '../core/json/stored-json.ts'

/**
 * Parses the JSON text of a column by its schema. Throws when the row does not match it: only this service
 * writes these columns.
 */
export const parseColumn = <Value>(schema: { parse(value: unknown): Value }, text: string): Value =>
  schema.parse(storedJson<unknown>(text))

/** A column that is a list of texts. */
export const TextList = z.array(z.string())
