import { statSync } from 'node:fs'
import { broken, type Finding, ok, type Patient } from './check.ts'

/** Checks that the config file, which holds tokens, can be read, and by its owner alone. */
export function checkConfigFile({ settings }: Patient): Finding[] {
  const { config_path, config_problem } = settings
  const stat = statSync(config_path, { throwIfNoEntry: false })
  if (!stat) return [ok('config file', `none at ${config_path}`)]
  if (config_problem !== null)
    return [broken('config file', `${config_path} ${config_problem}`, `remove it and run "agentrun login"`)]
  if (process.platform !== 'win32' && (stat.mode & 0o077) !== 0)
    return [
      broken(
        'config file',
        `${config_path} can be read by others, and contains a token`,
        `chmod 600 ${config_path}`,
      ),
    ]
  return [ok('config file', config_path)]
}
