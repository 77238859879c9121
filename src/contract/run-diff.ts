import { z } from 'zod'

export const ChangedFile = z
  .object({
    path: z.string(),
    old_path: z.string().nullable(),
    status: z.enum(['added', 'modified', 'deleted', 'renamed', 'copied', 'type_changed']),
    additions: z.int().nullable().describe('null for binary files'),
    deletions: z.int().nullable(),
    binary: z.boolean(),
  })
  .meta({ id: 'ChangedFile' })

export const RunDiff = z
  .object({
    agent_run_id: z.int(),
    base_sha: z.string().nullable(),
    head_sha: z.string().nullable(),
    files_changed: z.int(),
    additions: z.int(),
    deletions: z.int(),
    files: z.array(ChangedFile),
    patch: z.string().describe('Unified diff as git writes it'),
    patch_truncated: z.boolean(),
  })
  .meta({ id: 'AgentRunDiff' })
export type RunDiff = z.infer<typeof RunDiff>
