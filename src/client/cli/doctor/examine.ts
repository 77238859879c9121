import { statSync } from 'node:fs'
import { createClient } from '../../sdk/client.ts'
import {
  checkEvents,
  checkModels,
  checkOrganization,
  checkRepositories,
  checkScopes,
  checkToken,
} from './access.ts'
import { broken, CHECK_TIMEOUT_MS, type Finding, ok, type Patient } from './check.ts'
import { checkNetwork } from './network.ts'
import { checkService } from './service.ts'

/**
 * Examines every part between this machine and a run, from near to far. What needs a broken part is left out:
 * its fix comes first.
 */
export async function* examine(patient: Patient): AsyncGenerator<Finding> {
  const { base_url, token, organization_id } = patient.settings
  const whole = function* (findings: Finding[]) {
    yield* findings
    return findings.every(({ state }) => state !== 'broken')
  }
  yield* checkConfigFile(patient)
  if (!(yield* whole(await checkNetwork(patient)))) return
  const options = { base_url, retries: 1, timeout_ms: CHECK_TIMEOUT_MS, longest_wait_ms: 30_000 }
  if (!(yield* whole(await checkService(createClient({ ...options, retries: 0 }), patient)))) return
  if (token === null)
    return yield broken(
      'token',
      `not signed in to ${base_url}`,
      'run "agentrun login", or set AGENTRUN_TOKEN',
    )
  if (!/^[\x21-\x7e]+$/.test(token))
    return yield broken(
      'token',
      'is none: a token is one word of printable ASCII',
      'run "agentrun login" with a token',
    )
  const client = createClient({ ...options, token, organization_id: organization_id ?? undefined })
  if (!(yield* whole(await checkToken(client, patient)))) return
  if (!(yield* whole(await checkOrganization(client, patient)))) return
  for (const check of [checkScopes, checkRepositories, checkModels, checkEvents])
    yield* await check(client, patient)
}

/** Checks that the config file, which holds tokens, can be read, and by its owner alone. */
function checkConfigFile({ settings }: Patient): Finding[] {
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
