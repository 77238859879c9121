import { z } from 'zod'
import { limits } from '../limits.ts'
import { pageOf } from '../page.ts'
import { text } from '../text.ts'

const SECRET_NAME = /^[A-Z_][A-Z0-9_]{0,99}$/

/** Returns the schema of the name of a secret in a path: that of an environment variable. */
export const secretName = () =>
  z
    .string()
    .regex(SECRET_NAME, 'must be 1 to 100 capital letters, digits and _, and not begin with a digit')
    .meta({ wire: { type: 'string', pattern: SECRET_NAME.source } })
    .describe('The name, as an environment variable has one')

/** The visible fields of a secret: never its value. */
export const Secret = z
  .object({
    name: z.string().describe('Its name in runs'),
    repo_id: z
      .int()
      .nullable()
      .describe('Repository whose runs receive it; null: all repositories of the organization'),
    for_agent: z
      .boolean()
      .describe('Whether agents receive it; otherwise only the setup of their sandbox does'),
    created_at: z.iso.datetime().describe('Time of its creation'),
    updated_at: z.iso.datetime().describe('Time at which its value was last set'),
    updated_by: z.int().describe('The user who set it last'),
  })
  .meta({
    id: 'Secret',
    examples: [
      {
        name: 'NPM_TOKEN',
        repo_id: null,
        for_agent: false,
        updated_by: 1,
        created_at: '2026-11-20T10:30:00.000Z',
        updated_at: '2026-11-20T10:30:00.000Z',
      },
    ],
  })
export const SecretPage = pageOf(Secret).meta({ id: 'PageOfSecret' })

const bytes = (value: string) => new TextEncoder().encode(value).length

export const SecretInput = z
  .object({
    value: text(1, limits.secret_bytes)
      .refine(
        value => bytes(value) <= limits.secret_bytes,
        `must have at most ${limits.secret_bytes} bytes as UTF-8`,
      )
      .describe('The value; it is never shown again'),
    for_agent: z
      .boolean()
      .optional()
      .describe(
        'Whether agents receive it, as a variable of their commands; absent: unchanged, false for a new secret',
      ),
  })
  .meta({ id: 'SecretInput', examples: [{ value: 'npm_…' }] })
export type SecretInput = z.output<typeof SecretInput>
