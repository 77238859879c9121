import { z } from 'zod'

/**
 * The result of setup commands on one machine, for the runs of a repository
 * (specification.md#setup-and-analysis).
 */
const Environment = z
  .object({
    id: z.int().describe('The environment'),
    repo_id: z.int().describe('Its repository'),
    key: z
      .string()
      .describe(
        'Digest of everything it depends on: commands, variables, secrets, manifests and lockfiles, ref, programs of the machine',
      ),
    base_ref: z
      .string()
      .describe(
        'The branch or tag that it was prepared on; runs on others reuse it only if this is the default branch',
      ),
    base_sha: z.string().describe('The commit that the commands ran at'),
    digest: z
      .string()
      .describe(
        'SHA-256 of names, kinds, sizes and modification times of its files; verified before each use',
      ),
    bytes: z.int().describe('Bytes on the disk of its machine'),
    setup_ms: z.int().describe('Milliseconds that the clone and the commands took'),
    made_by_run: z
      .int()
      .describe('The run that needed it first, whose trace contains the output of the commands'),
    made_at: z.iso.datetime().describe('Time at which the commands ended'),
    last_used_at: z.iso.datetime().describe('Time of its last use by a run'),
    uses: z.int().describe('Number of runs that used it, including the first one'),
    machine: z.string().describe('An id of the data folder of the worker that has it'),
  })
  .meta({
    id: 'Environment',
    examples: [
      {
        id: 3,
        repo_id: 7,
        key: '6f1ed002ab5595859014ebf0951522d9',
        base_ref: 'main',
        base_sha: '0'.repeat(40),
        digest: 'a'.repeat(64),
        bytes: 209715200,
        setup_ms: 41000,
        made_by_run: 12,
        uses: 4,
        machine: '5f0c1b',
        made_at: '2026-11-20T10:30:00.000Z',
        last_used_at: '2026-11-20T14:05:00.000Z',
      },
    ],
  })

export const EnvironmentList = z.object({ items: z.array(Environment).describe('Newest first') }).meta({
  id: 'EnvironmentList',
  examples: [{ items: [] }],
})

export const DroppedEnvironments = z
  .object({
    dropped: z.int().describe('Number of discarded environments; the next run that needs one prepares it'),
  })
  .meta({ id: 'DroppedEnvironments', examples: [{ dropped: 1 }] })
