import type { ToolTable } from '../tool.ts'
import { apply_patch } from './apply-patch.ts'
import { ask } from './ask.ts'
import { edit } from './edit.ts'
import { finish } from './finish.ts'
import { get_run } from './get-run.ts'
import { plan } from './plan.ts'
import { read } from './read.ts'
import { search } from './search.ts'
import { shell } from './shell.ts'
import { start_run } from './start-run.ts'
import { write } from './write.ts'

/** The tools of the plan agent. To add one: its input in contract/runs/tools.ts, a file here, a line in this table. */
export const tools: Required<ToolTable> = { shell, read, write, edit, apply_patch, search, plan, ask, start_run, get_run, finish }

/** Returns the tools of a run without those that it was created without. */
export function toolsOf({ tools_off }: { tools_off: readonly string[] }): ToolTable {
  return Object.fromEntries(Object.entries(tools).filter(([name]) => !tools_off.includes(name)))
}
