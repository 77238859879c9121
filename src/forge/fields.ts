import { z } from 'zod'

/**
 * Fields of responses that the service can do without: absent, null or of another type, they have a neutral
 * value.
 */
export const word = z.string().catch('')
export const flag = z.boolean().catch(false)
export const count = z.int().catch(0)
const moment = z.string().pipe(z.coerce.date())
export const optionalMoment = moment.nullable().catch(null)

/** Fields that it needs. A response without one is an error that names the field. */
export const required = { id: z.number(), number: z.int(), text: z.string().min(1), moment }

/** A part that may be absent. One that cannot be read counts as absent. */
export const optional = <S extends z.ZodType>(shape: S) => shape.nullable().catch(null)
