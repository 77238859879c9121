import { z } from 'zod'

export const Health = z
  .object({ status: z.literal('ok').describe('Always `ok`') })
  .meta({ id: 'Health', examples: [{ status: 'ok' }] })

const engines = ['docker', 'podman', 'kubernetes'] as const

/**
 * The mechanisms that enforce the limits of a sandbox. `watchdog`, `niceness` and `rlimit` replace control
 * groups; an engine enforces its own.
 */
export const SandboxLimitMechanisms = z.object({
  memory: z
    .enum(['cgroup v2', 'cgroup v1', 'watchdog', ...engines])
    .describe('Memory of all processes of a run together'),
  cpu: z
    .enum(['cgroup v2', 'cgroup v1', 'niceness', ...engines])
    .describe('CPU limit; `niceness`: runs have a low priority, and no limit'),
  processes: z.enum(['cgroup v2', 'cgroup v1', 'rlimit', ...engines]).describe('Number of processes'),
})
export type SandboxLimitMechanisms = z.infer<typeof SandboxLimitMechanisms>

export const Readiness = z
  .object({
    status: z.literal('ready').describe('Always `ready`; 503 when it is not'),
    version: z.string().describe('Version of the service'),
    database: z.literal('ok').describe('Always `ok`; 503 when it does not respond'),
    workers: z
      .enum(['ready', 'blocked'])
      .describe('`blocked`: runs are accepted and queued, but none is started'),
    workers_reason: z.string().nullable().describe('The recommended action, in one line'),
    sandbox: z.string().nullable().describe('The sandbox driver; null while it does not work'),
    sandbox_limits: SandboxLimitMechanisms.nullable().describe(
      'The mechanism that enforces the limits of a sandbox; null while none can be created',
    ),
    large_repositories: z
      .enum(['shared', 'cloned'])
      .nullable()
      .describe(
        '`shared`: a commit of a large repository is checked out once for all runs; `cloned`: for each. Null while no run is started',
      ),
    worker_processes: z
      .object({
        count: z
          .int()
          .describe('Processes that execute runs, on any machine, with a heartbeat in the last 15 seconds'),
        able: z.int().describe('Those of them that start runs'),
        slots: z.int().describe('Number of runs that they may execute at the same time'),
        busy: z.int().describe('Number of runs that they execute'),
      })
      .describe('The workers'),
  })
  .meta({
    id: 'Readiness',
    examples: [
      {
        status: 'ready',
        version: '0.1.0',
        database: 'ok',
        workers: 'ready',
        workers_reason: null,
        sandbox: 'bubblewrap',
        sandbox_limits: { memory: 'cgroup v2', cpu: 'cgroup v2', processes: 'cgroup v2' },
        large_repositories: 'shared',
        worker_processes: { count: 3, able: 3, slots: 12, busy: 5 },
      },
    ],
  })

const code = z.string().min(1).max(200).describe('The code after `#code=` in a sign-in link')
const signed_in = 'Whether the browser is signed in now'

export const SignInInput = z
  .object({ code })
  .meta({ id: 'SignInInput', examples: [{ code: 'Vh3kT0qZ8mLr' }] })
export const SignedIn = z
  .object({ signed_in: z.literal(true).describe(signed_in) })
  .meta({ id: 'SignedIn', examples: [{ signed_in: true }] })
export const SignedOut = z
  .object({ signed_in: z.literal(false).describe(signed_in) })
  .meta({ id: 'SignedOut', examples: [{ signed_in: false }] })
export const SessionToken = z
  .object({
    token: z.string().describe('A bearer token'),
    expires_at: z.iso.datetime().describe('Time at which it expires; UTC, ISO 8601 with milliseconds'),
    user_id: z.int().describe('The user'),
    organization_id: z.int().describe('First organization that the session reaches'),
    organizations: z
      .array(
        z.object({ id: z.int().describe('The organization'), name: z.string().describe('Display name') }),
      )
      .describe('Organizations that the session reaches, oldest first, at most 100'),
  })
  .meta({
    id: 'SessionToken',
    examples: [
      {
        token: 'arun_s_…',
        expires_at: '2026-11-20T10:45:00.000Z',
        user_id: 1,
        organization_id: 1,
        organizations: [{ id: 1, name: 'Acme' }],
      },
    ],
  })
