import { createClient } from '../../sdk/client.ts'
import {
  checkEvents,
  checkModels,
  checkOrganization,
  checkRepositories,
  checkScopes,
  checkToken,
} from './access.ts'
import { broken, CHECK_TIMEOUT_MS, type Finding, type Patient } from './check.ts'
import { checkConfigFile } from './local-file.ts'
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
