import { join } from 'node:path'
import { type ConfigurationFile, positionText, readEnvFile, readTomlFile } from './files.ts'

/**
 * What the process is configured with: its variables, `.env` in the data folder, and the configuration file.
 * `origins` has the file and line of each name that a file gives.
 */
export type Sources = {
  values: NodeJS.ProcessEnv
  origins: ReadonlyMap<string, string>
  files: ConfigurationFile[]
  mistakes: string[]
}

/** They determine which files are read. */
const not_in_files = ['AGENTRUN_DATA_DIR', 'AGENTRUN_CONFIG']
const ENV_FILE = '.env'
const CONFIGURATION_FILE = 'agentrun.toml'

/**
 * Reads the files. A variable takes precedence over `.env`, and `.env` over the configuration file:
 * `AGENTRUN_CONFIG`, by default `agentrun.toml` in the data folder. An empty value counts as absent.
 * `NAME_FILE` is another form of `NAME`: each of them hides both in the next source.
 */
export function readSources(env: NodeJS.ProcessEnv, data_folder: string): Sources {
  const configuration = readTomlFile(env.AGENTRUN_CONFIG || join(data_folder, CONFIGURATION_FILE))
  const files = [readEnvFile(join(data_folder, ENV_FILE)), configuration]
  const mistakes = files.flatMap(file => file.mistakes)
  if (env.AGENTRUN_CONFIG && !configuration.found)
    mistakes.push(
      `AGENTRUN_CONFIG: there is no file ${configuration.path}, or this user cannot enter its folder`,
    )
  const values = { ...env }
  const origins = new Map<string, string>()
  const taken = new Set(
    Object.entries(env)
      .filter(([, value]) => value)
      .map(([name]) => baseOf(name)),
  )
  for (const { path, entries } of files) {
    const given = entries.filter(({ name, value }) => value !== '' && !taken.has(baseOf(name)))
    for (const { name, value, line } of given) {
      taken.add(baseOf(name))
      origins.set(name, positionText(path, line))
      if (not_in_files.includes(baseOf(name)))
        mistakes.push(`${positionText(path, line)}: ${name}: can only be given as a variable`)
      else values[name] = value
    }
  }
  return { values, origins, files, mistakes }
}

const baseOf = (name: string) => name.replace(/_FILE$/, '')
