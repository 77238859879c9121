import { forModel, runTool, type ToolResult } from '../../src/agent/tool.ts'
import { tools } from '../../src/agent/tools/table.ts'
import type { AgentTool } from '../../src/contract/runs/action-tools.ts'
import type { KnownValue } from '../../src/core/secrets/known-value.ts'
import { toolResultText } from '../../src/core/text/tool-result-text.ts'
import { createBackgroundRedactor } from '../../src/redaction/background-redactor.ts'
import { readFile, writeFile } from '../../src/sandbox/files.ts'
import { makeDriver, startSandbox } from '../sandbox/start-sandbox.ts'

/** `text`: the result as the model reads it. */
export type CalledTool = { status: string; output: Record<string, unknown>; text: string; result: ToolResult }

export type ToolBox = AsyncDisposable & {
  /** Calls a tool of the agent, with everything between the model's call and its result. */
  call(name: AgentTool, input: Record<string, unknown>): Promise<CalledTool>
  write(path: string, content: string | Uint8Array): Promise<void>
  /** One character per byte. */
  read(path: string): Promise<string>
  /** Runs a command and returns its output; throws when it fails. */
  sh(command: string): Promise<string>
}

/** One sandbox for all tools of a test file. */
export async function openToolBox(secrets: KnownValue[] = []): Promise<ToolBox> {
  const made = makeDriver()
  const { sandbox, separate } = await startSandbox(made.driver, made.makeWorkspace('tools'))
  const redactor = createBackgroundRedactor(secrets)
  const skills = { list: async () => [], read: async () => null }
  const web = () => Promise.reject(new Error('no web here'))
  const runs = { start: () => Promise.reject(new Error('no runs here')), awaitRuns: async () => [] }
  return {
    async call(name, input) {
      const result = await runTool(
        tools,
        { id: 'call_1', name, input },
        {
          call_id: 'call_1',
          runs,
          skills,
          web,
          redactor,
          max_seconds: 60,
          on_output: () => {},
          signal: new AbortController().signal,
          sandbox: async () => sandbox,
        },
      )
      return {
        status: result.status,
        output: result.output,
        text: toolResultText(name, forModel(result)),
        result,
      }
    },
    write: (path, content) => writeFile(sandbox, path, Buffer.from(content)),
    read: async path => (await readFile(sandbox, path, { max_bytes: 16 * 1024 ** 2 })).toString('latin1'),
    async sh(command) {
      const { exit_code, text } = await separate(command)
      if (exit_code !== 0) throw new Error(`${command} failed with ${exit_code}: ${text}`)
      return text
    },
    async [Symbol.asyncDispose]() {
      await sandbox.stop()
      await made[Symbol.asyncDispose]()
    },
  }
}
