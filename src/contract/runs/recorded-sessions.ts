import { z } from 'zod'
import { limits } from '../limits.ts'

const SESSION_ID = new RegExp(`^[A-Za-z0-9_.:-]{1,${limits.session_id_chars}}$`)
export const SessionId = z
  .string()
  .regex(SESSION_ID, `must have 1 to ${limits.session_id_chars} letters, digits and _ . : -`)
  .meta({ wire: { type: 'string', pattern: SESSION_ID.source } })
  .describe('The session, by the name that its client chose; names are unique per user')

export const CreateSessionInput = z.object({ session_id: SessionId }).meta({
  id: 'CreateClaudeCodeSessionInput',
  examples: [{ session_id: '5f0c1f0e-8f43-4d0e-9a35-0d9d8e6f4b21' }],
})

// Accepted unchanged, because its shape belongs to another program.
const log = z
  .custom<Record<string, unknown>>(
    value => typeof value === 'object' && JSON.stringify(value)[0] === '{',
    'must be an object',
  )
  .refine(
    value => JSON.stringify(value).length <= limits.session_log_bytes,
    'must have at most 4 MiB as JSON',
  )
  .meta({ wire: { type: 'object', additionalProperties: {} } })

export const AddSessionLogInput = z.object({ log: log.describe('One line of the log of the session') }).meta({
  id: 'AddClaudeCodeLogInput',
  examples: [{ log: { type: 'user', message: { role: 'user', content: 'Fix the failing test' } } }],
})

export const SessionStatus = z.enum(['ACTIVE', 'COMPLETE', 'ERROR'])
export type SessionStatus = z.infer<typeof SessionStatus>
export const SetSessionStatusInput = z
  .object({
    status: SessionStatus.describe(
      '`ACTIVE`: works on a prompt; `COMPLETE`: has answered it; `ERROR`: ended with an error',
    ),
  })
  .meta({ id: 'SetClaudeCodeStatusInput', examples: [{ status: 'COMPLETE' }] })

export const RecordedSession = z
  .object({
    agent_run_id: z.int().describe('The run that records the session'),
    session_id: z.string().describe('The session'),
    web_url: z.string().describe('The run in the web interface'),
  })
  .meta({
    id: 'RecordedSession',
    examples: [
      {
        agent_run_id: 12,
        session_id: '5f0c1f0e-8f43-4d0e-9a35-0d9d8e6f4b21',
        web_url: 'https://agents.example.com/agent/trace/12',
      },
    ],
  })
export type RecordedSession = z.infer<typeof RecordedSession>
