import { z } from 'zod'
import { text } from '../text.ts'
import { RunStatus } from './runs.ts'

export const GenerateSetupCommandsInput = z
  .object({
    repo_id: z.int().min(0).describe('The repository to set up'),
    prompt: text(1, 20_000, { trim: true })
      .nullish()
      .describe('Instructions for the model, if there is one; rules ignore them'),
    trigger_source: text(1, 100).optional().describe('The source of the request, default `setup-commands`'),
  })
  .meta({ id: 'GenerateSetupCommandsInput', examples: [{ repo_id: 7 }] })
export type GenerateSetupCommandsInput = z.output<typeof GenerateSetupCommandsInput>

export const SetupCommands = z
  .object({
    agent_run_id: z.int().describe('The run that detects them'),
    status: RunStatus,
    url: z.string().describe('Its trace page'),
  })
  .meta({
    id: 'SetupCommandsResponse',
    examples: [{ agent_run_id: 12, status: 'queued', url: 'http://127.0.0.1:4600/agent/trace/12' }],
  })
