import { expect, test } from 'vitest'
import { z } from 'zod'
import { schemaMessage } from './schema-message.ts'

const messageFor = (schema: z.ZodType, value: unknown) =>
  schema.safeParse(value, { error: schemaMessage }).error?.issues[0]?.message

test('a value outside of its range, of another type or missing is refused with a message that a person understands', () => {
  expect(messageFor(z.int().min(1), 0)).toBe('must be at least 1')
  expect(messageFor(z.number().lt(5), 9)).toBe('must be less than 5')
  expect(messageFor(z.string().min(1), '')).toBe('must not be empty')
  expect(messageFor(z.string().max(3), 'abcd')).toBe('must have at most 3 characters')
  expect(messageFor(z.array(z.string()).max(1), ['a', 'b'])).toBe('must have at most 1 item')
  expect(messageFor(z.int(), 1.5)).toBe('must be a whole number')
  expect(messageFor(z.number(), 'x')).toBe('must be a number')
  expect(messageFor(z.string(), undefined)).toBe('is required')
})

test('a message that a schema states itself, and that of any other refusal, stay', () => {
  expect(messageFor(z.string().min(1, 'choose a name'), '')).toBe('choose a name')
  expect(messageFor(z.enum(['a', 'b']), 'c')).toBe('Invalid option: expected one of "a"|"b"')
})
