import { z } from 'zod'
import { decimal } from '../decimal.ts'
import { limits } from '../limits.ts'
import { exampleRun } from './example-run.ts'

export const MessageImagesQuery = z.object({
  seq: decimal(1, limits.page_skip).describe(
    '`seq` of a USER_MESSAGE, whose `observation.images` is the number of its images, or of an ACTION, whose `tool_output.images` is',
  ),
})
export type MessageImagesQuery = z.output<typeof MessageImagesQuery>

/** specification.md#logs. */
export const MessageImages = z
  .object({
    agent_run_id: z.int().describe('The run'),
    seq: z.int().describe('The entry'),
    images: z
      .array(z.string())
      .describe('The images as data URIs, as they were sent or returned; empty for an entry without images'),
  })
  .meta({
    id: 'AgentRunMessageImages',
    examples: [
      {
        agent_run_id: exampleRun.id,
        seq: 1,
        images: ['data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAAC'],
      },
    ],
  })
export type MessageImages = z.infer<typeof MessageImages>
