import { z } from 'zod'
import { decimal } from '../decimal.ts'
import { exampleRun } from './example-run.ts'

const ChangedFile = z
  .object({
    path: z.string().describe('Path in the repository'),
    old_path: z.string().nullable().describe('Previous path of a renamed or copied file'),
    status: z
      .enum(['added', 'modified', 'deleted', 'renamed', 'copied', 'type_changed'])
      .describe('Kind of the change'),
    additions: z.int().nullable().describe('Lines added; null for binary files'),
    deletions: z.int().nullable().describe('Lines removed; null for binary files'),
    binary: z.boolean().describe('Whether it is binary'),
  })
  .meta({ id: 'ChangedFile' })

const patch = [
  'diff --git a/invoice.js b/invoice.js',
  '--- a/invoice.js',
  '+++ b/invoice.js',
  '@@ -1 +1 @@',
  '-export const total = lines => sum(lines) * tax',
  '+export const total = lines => (sum(lines) - discount(lines)) * tax',
  '',
].join('\n')

export const RunDiff = z
  .object({
    agent_run_id: z.int().describe('The run'),
    base_sha: z.string().nullable().describe('Commit that it started from'),
    head_sha: z
      .string()
      .nullable()
      .describe(
        'Commit of its changes; null while there is none. For steps: the last state of the workspace',
      ),
    from_seq: z.int().optional().describe('Only for steps: after this entry; 0: at the start'),
    to_seq: z.int().optional().describe('Only for steps: up to and including this entry'),
    files_changed: z.int().describe('Number of files'),
    additions: z.int().describe('Lines added'),
    deletions: z.int().describe('Lines removed'),
    files: z.array(ChangedFile).describe('Every changed file'),
    patch: z.string().describe('Unified diff as git writes it'),
    patch_truncated: z.boolean().describe('Whether `patch` was too long and ends early'),
  })
  .meta({
    id: 'AgentRunDiff',
    examples: [
      {
        agent_run_id: exampleRun.id,
        base_sha: exampleRun.base_sha,
        head_sha: '4f2c1d6b9a3e5870c1d2e3f4a5b6c7d8e9f00112',
        files_changed: 1,
        additions: 1,
        deletions: 1,
        files: [
          {
            path: 'invoice.js',
            old_path: null,
            status: 'modified',
            additions: 1,
            deletions: 1,
            binary: false,
          },
        ],
        patch,
        patch_truncated: false,
      },
    ],
  })
export type RunDiff = z.infer<typeof RunDiff>

const seq = () => decimal(0, 2_147_483_647).optional()

export const DiffQuery = z.object({
  format: z.enum(['json', 'patch']).default('json').describe('`patch`: the unified diff alone, as text'),
  from_seq: seq().describe('Only changes after this entry; 0, or only `to_seq`: since the start'),
  to_seq: seq().describe('Only changes up to this entry; default: the newest whose files are available'),
})
export type DiffQuery = z.output<typeof DiffQuery>
