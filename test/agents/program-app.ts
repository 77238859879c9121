import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FakeScript } from '../model/fake-server.ts'
import { type CodingApp, startCodingApp } from '../runs/coding-app.ts'
import { testFolder } from '../temporary-folder.ts'

const VARIABLES = { GATEWAY: '{gateway}', MODEL: '{model}' }

/**
 * The variables of a service with the program of these tests as agent `program`: it does what the prompt
 * requests, well or badly.
 */
export function programEnv(settings: object = {}): Record<string, string> {
  const program = {
    folder: programFolder('.', 'program.mjs'),
    command: 'exec node /opt/agents/program/program.mjs',
    apis: ['openai-chat'],
    label: 'Test program',
    environment: VARIABLES,
    ...settings,
  }
  const missing = { command: 'exec /opt/agents/none/program', apis: ['openai-chat'] }
  return { AGENTRUN_AGENTS: JSON.stringify({ program, missing }) }
}

/** Returns a folder for an agent with that program at `path`/`name`. */
export function programFolder(path: string, name: string): string {
  const folder = testFolder()
  chmodSync(folder, 0o755)
  mkdirSync(join(folder, path), { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
  copyFileSync(fileURLToPath(new URL('program.mjs', import.meta.url)), join(folder, path, name))
  return folder
}

/** The settings of an agent that gets further variables. */
export const programSettings = (variables: Record<string, string>) => ({
  environment: { ...VARIABLES, ...variables },
})

/** `settings`: of the agent. */
export const startProgramApp = (
  script: FakeScript,
  env: Record<string, string> = {},
  settings: object = {},
): Promise<CodingApp> => startCodingApp(script, { ...programEnv(settings), ...env })
