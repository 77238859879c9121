import type { z } from 'zod'

/** Parses the JSON text of a column by its schema. Throws when the row does not match it: only this service writes these columns. */
export const parseColumn = <Schema extends z.ZodType>(schema: Schema, text: string): z.output<Schema> => schema.parse(JSON.parse(text))
