import { z } from 'zod'
import { executableTools, toolInputs } from './tools.ts'

export const Tools = z
  .object({
    tools: z
      .array(
        z.object({
          name: z.string().describe('The `tool_name` of a request, and of the `ACTION` in the trace'),
          description: z.string().describe('The description of the tool that a model gets'),
          parameters: z.record(z.string(), z.unknown()).describe('JSON Schema of `arguments`'),
        }),
      )
      .describe('The tools that can be executed without an agent'),
    total_count: z.int().describe('Number of tools'),
  })
  .meta({
    id: 'ToolsResponse',
    examples: [
      {
        tools: [{ name: 'shell', description: 'Run a bash command.', parameters: { type: 'object' } }],
        total_count: 1,
      },
    ],
  })

export const ExecuteToolInput = z
  .object({
    tool_name: z.string().min(1).max(100).describe('A tool of the list'),
    arguments: z
      .record(z.string(), z.unknown())
      .optional()
      .describe(
        'Its input: `Tool_shell`, `Tool_read` or `Tool_search`. The value of a stored secret is replaced, as in a prompt',
      ),
    repo_id: z.int().min(0).nullish().describe("Absent: the organization's default or only repository"),
  })
  .superRefine((input, ctx) => {
    const tool = executableTools.find(name => name === input.tool_name)
    if (tool === undefined)
      return ctx.addIssue({
        code: 'custom',
        message: `must be one of ${executableTools.join(', ')}`,
        path: ['tool_name'],
      })
    const parsed = toolInputs[tool].safeParse(input.arguments ?? {})
    for (const { message, path } of parsed.error?.issues ?? [])
      ctx.addIssue({ code: 'custom', message, path: ['arguments', ...path] })
  })
  .meta({ id: 'ExecuteToolInput', examples: [{ tool_name: 'shell', arguments: { command: 'ls' } }] })
export type ExecuteToolInput = z.output<typeof ExecuteToolInput>

export const ToolExecution = z
  .object({
    success: z
      .boolean()
      .describe('Whether the tool succeeded; a command that exits with another code than 0 did not'),
    result: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('The `tool_output` of the `ACTION` in the trace; null when the tool did not end'),
    error: z.string().nullable().describe('The reason for which it did not succeed'),
    tool_name: z.string().describe('The tool'),
    execution_time_ms: z
      .number()
      .describe('Duration of the tool call in milliseconds, without the start of the sandbox'),
    agent_run_id: z.int().describe('The archived run of the call, with its trace'),
  })
  .meta({
    id: 'ToolResult',
    examples: [
      {
        success: true,
        result: { status: 'ok', exit_code: 0, output: 'README.md\n', truncated: false },
        error: null,
        tool_name: 'shell',
        execution_time_ms: 12,
        agent_run_id: 42,
      },
    ],
  })
export type ToolExecution = z.output<typeof ToolExecution>
