import { z } from 'zod'
import { decimal, id, moment } from '../decimal.ts'
import { limits } from '../limits.ts'
import { pageOf, pageQuery } from '../page.ts'
import { exampleEntry } from '../runs/example-run.ts'
import { LogEntry } from '../runs/logs.ts'
import { several } from '../several.ts'

export const SandboxKind = z.enum(['agent', 'setup', 'check'])
export type SandboxKind = z.infer<typeof SandboxKind>
export const SandboxState = z.enum(['starting', 'running', 'ended', 'lost'])
export type SandboxState = z.infer<typeof SandboxState>

const counted = (what: string) => z.int().nullable().describe(`${what}; null: not measured`)

/** A sandbox that a run has started. Its activity is in the trace of the run, and kept as long. */
export const Sandbox = z
  .object({
    id: z.int().describe('The sandbox'),
    organization_id: z.int().describe('The organization'),
    agent_run_id: z.int().describe('Its run'),
    repo_id: z.int().nullable().describe('The repository of the run'),
    kind: SandboxKind.describe(
      'The commands that ran in it: those of the agent, of the setup, or of one check',
    ),
    state: SandboxState.describe('`lost`: it ended unexpectedly'),
    end_reason: z
      .enum(['stopped', 'start_failed', 'died', 'owner_lost'])
      .nullable()
      .describe(
        '`died`: the sandbox failed; `owner_lost`: the worker of the run was lost; null while it is running',
      ),
    driver: z.string().describe('The sandbox driver that isolates it'),
    host: z.string().describe('The machine of its worker'),
    limits: z
      .object({
        memory_bytes: z.int().describe('Memory of all processes together'),
        cpus: z.number().describe('Number of processors that they may use'),
        processes: z.int().describe('Processes and threads'),
        disk_bytes: z.int().describe('Bytes of the workspace'),
        files: z.int().describe('Files of the workspace'),
      })
      .describe('Its resource limits'),
    peaks: z
      .object({
        memory_bytes: counted('Peak memory'),
        disk_bytes: counted('Peak size of the workspace, which is measured periodically'),
        processes: counted('Peak number of processes'),
        cpu_ms: counted('Total CPU time in milliseconds'),
        memory_kills: counted('Processes that were killed because its memory was exhausted'),
      })
      .describe('Its usage, at its end or a few seconds ago'),
    first_seq: z.int().describe('The first entry of the run that may concern it'),
    last_seq: z.int().nullable().describe('The last entry; null: all later ones'),
    logs_url: z.string().describe('Address of these entries in the web interface'),
    created_at: z.iso.datetime().describe('Time of the request'),
    started_at: z.iso.datetime().nullable().describe('Time at which it was ready'),
    ended_at: z.iso.datetime().nullable().describe('Time of its end'),
  })
  .meta({
    id: 'Sandbox',
    examples: [
      {
        id: 3,
        organization_id: 1,
        agent_run_id: 12,
        repo_id: 7,
        kind: 'agent',
        state: 'ended',
        end_reason: 'stopped',
        driver: 'bubblewrap',
        host: 'worker-1',
        limits: {
          memory_bytes: 4_294_967_296,
          cpus: 4,
          processes: 512,
          disk_bytes: 10_737_418_240,
          files: 1_000_000,
        },
        peaks: {
          memory_bytes: 402_653_184,
          disk_bytes: 96_468_992,
          processes: 31,
          cpu_ms: 41_200,
          memory_kills: 0,
        },
        first_seq: 3,
        last_seq: 27,
        logs_url: 'http://127.0.0.1:4600/agent/trace/12#e3',
        created_at: '2026-11-20T10:30:00.000Z',
        started_at: '2026-11-20T10:30:00.040Z',
        ended_at: '2026-11-20T10:34:12.000Z',
      },
    ],
  })
export type Sandbox = z.output<typeof Sandbox>
export const SandboxPage = pageOf(Sandbox).meta({ id: 'SandboxList' })

export const ListSandboxesQuery = z.object({
  ...pageQuery,
  agent_run_id: several(id()).describe('Only those of one of these runs'),
  repo_id: several(id()).describe('Only those of runs on one of these repositories'),
  kind: several(SandboxKind).describe('Only those of one of these kinds'),
  state: several(SandboxState).describe('Only those in one of these states'),
  created_after: moment().optional().describe('Requested later than this time'),
  created_before: moment().optional().describe('Requested earlier than this time'),
})
export type ListSandboxesQuery = z.output<typeof ListSandboxesQuery>

export const SandboxLogsQuery = z.object({
  ...pageQuery,
  after_seq: decimal(0, limits.page_skip).optional().describe('Only entries with a greater `seq`'),
})
export type SandboxLogsQuery = z.output<typeof SandboxLogsQuery>

export const SandboxLogPage = pageOf(LogEntry).meta({
  id: 'PageOfAgentRunLogEntry',
  examples: [{ items: [exampleEntry], total: 1, page: 1, size: 100, pages: 1 }],
})
