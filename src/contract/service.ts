import { z } from 'zod'

export const Health = z.object({ status: z.literal('ok') }).meta({ id: 'Health' })

export const Readiness = z
  .object({
    status: z.literal('ready'),
    version: z.string(),
    database: z.literal('ok'),
    workers: z.enum(['ready', 'blocked']).describe('`blocked`: runs are accepted and queued, but none is started'),
    workers_reason: z.string().nullable().describe('One line that says what to do'),
    sandbox: z.string().nullable(),
  })
  .meta({ id: 'Readiness' })

export const SignInInput = z.object({ code: z.string().min(1).max(200) }).meta({ id: 'SignInInput' })
export const SignedIn = z.object({ signed_in: z.literal(true) }).meta({ id: 'SignedIn' })
export const SignedOut = z.object({ signed_in: z.literal(false) }).meta({ id: 'SignedOut' })
export const SessionToken = z
  .object({ token: z.string(), expires_at: z.iso.datetime(), user_id: z.int(), organization_id: z.int() })
  .meta({ id: 'SessionToken' })
