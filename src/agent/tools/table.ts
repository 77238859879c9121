import { actionTool } from '../../contract/runs/action-tools.ts'
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
import { web_fetch } from './web-fetch.ts'
import { write } from './write.ts'

/**
 * The tools of the plan agent. To add one: its input in contract/runs/tools.ts, a file here, a line in this
 * table.
 */
export const tools: Required<ToolTable> = {
  shell,
  read,
  write,
  edit,
  apply_patch,
  search,
  web_fetch,
  plan,
  ask,
  start_run,
  get_run,
  finish,
}

/**
 * Returns the tools of a run without those that it was created without. `has_web`: whether it may reach any
 * host; without one, reading the web is not a tool.
 */
export function toolsOf({ tools_off }: { tools_off: readonly string[] }, has_web: boolean): ToolTable {
  const off = has_web ? tools_off : [...tools_off, actionTool.web_fetch]
  return Object.fromEntries(Object.entries(tools).filter(([name]) => !off.includes(name)))
}
