import { actionTool } from '../../contract/runs/action-tools.ts'
import { agentVariables } from '../../core/sandbox-environment.ts'
import type { KnownValue } from '../../core/secrets/known-value.ts'
import { mcpCredentialName } from '../../core/secrets/mcp-credentials.ts'
import { isSetting } from '../../core/secrets/program-settings.ts'
import { CANARY, canaryOf, type OpenSecret, openSecrets } from '../../core/secrets/run-secrets.ts'
import { homeFileCommand } from '../../core/text/home-file.ts'
import type { ConfiguredServer } from '../../mcp/run-servers.ts'
import { createBackgroundRedactor } from '../../redaction/background-redactor.ts'
import type { BackgroundRedactor } from '../../redaction/port.ts'
import { type Sandbox, SandboxError } from '../../sandbox/port.ts'
import { insertAuditEntry } from '../../store/access/audit.ts'
import { listSecretsAndMcpServers, type RunMcpServer } from '../../store/access/mcp-servers.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import { serviceAction } from '../../trace/agent-entries.ts'
import { errorEntry } from '../../trace/entry.ts'
import type { Alarms, RunWriter } from '../claim/run-writer.ts'
import type { WorkerServices } from '../services.ts'
import { signInTokens } from './sign-in-tokens.ts'

/** The secrets that a worker passes to the sandboxes of a run and keeps out of everything else. */
export type RunSecrets = {
  redactor: BackgroundRedactor
  secrets: readonly OpenSecret[]
  /** The variables of the agent's sandbox. */
  environment: Record<string, string>
  /** The MCP servers of organization and repository, with their credentials. */
  mcp_servers: ConfiguredServer[]
  /** A value that no task needs: where it appears, something searched for credentials. */
  canary: string
}

/**
 * Opens the secrets of the run's organization and repository. From then on the writer redacts them, the
 * service's credentials and the canary.
 */
export async function openRunSecrets(
  deps: Pick<WorkerServices, 'db' | 'sealer' | 'known_values' | 'log' | 'telemetry' | 'renewSignIn'>,
  writer: RunWriter,
  run: RunRow,
): Promise<RunSecrets> {
  const stored = await listSecretsAndMcpServers(deps.db, run.organization_id, run.repository_id)
  const { secrets, unreadable } = openSecrets(deps.sealer, run.organization_id, stored.secrets)
  if (unreadable.length > 0)
    deps.log('error', 'secrets of a run cannot be opened: they are sealed with another key', {
      names: unreadable.join(' '),
    })
  const canary = canaryOf(deps.sealer, run.organization_id, run.id)
  const confidential = secrets.filter(({ name }) => !isSetting(name))
  const known: KnownValue[] = [...confidential, ...deps.known_values, { name: CANARY, value: canary }]
  const alarms = canaryAlarms(deps, writer)
  const redactor = createBackgroundRedactor(known, name => name === CANARY && alarms.met())
  writer.protect(redactor, alarms)
  const mcp_servers = stored.servers.map(server => {
    const { name, repository_id, settings } = server
    const key = { organization_id: run.organization_id, repository_id, server: name }
    return {
      ...server,
      credential: credentialOf(server, secrets),
      sign_in: settings.sign_in === null ? null : signInTokens(deps, key),
    }
  })
  return { redactor, secrets, environment: agentVariables(secrets), mcp_servers, canary }
}

function credentialOf({ name, repository_id }: RunMcpServer, secrets: readonly OpenSecret[]): string | null {
  const wanted = mcpCredentialName(name)
  return (
    secrets.find(secret => secret.name === wanted && secret.repository_id === repository_id)?.value ?? null
  )
}

/** A path in the home folder that a search for credentials finds; no program of the sandbox reads it. */
const CANARY_FILE = '.config/agentrun/credentials'
const PLANT_MS = 10_000
const READ_STDIN = `{ IFS= read -r -d '' text; printf %s "$text"; }`

/** Creates the canary, before anything of the agent runs. Throws SandboxError. */
export async function plantCanary(sandbox: Sandbox, { canary }: Pick<RunSecrets, 'canary'>): Promise<void> {
  const stdin = Buffer.from(`[default]\ntoken = ${canary}\n`)
  const command = homeFileCommand(CANARY_FILE, READ_STDIN)
  const planted = await sandbox.exec({
    command,
    stdin,
    shell: 'separate',
    timeout_ms: PLANT_MS,
    max_output_bytes: 1_000,
  })
  if (planted.status === 'exited' && planted.exit_code === 0) return
  const why =
    Buffer.from(planted.output).toString().trim() || `${planted.status} ${planted.exit_code ?? ''}`.trim()
  throw new SandboxError(`the canary cannot be created in the home folder: ${why}`)
}

/** Lists the names of the secrets that a sandbox gets in the trace. */
export async function showSecretNames(writer: RunWriter, { environment }: RunSecrets): Promise<void> {
  const names = Object.keys(environment)
  if (names.length > 0)
    await writer.append({
      entries: [serviceAction(actionTool.sandbox_secrets, {}, { status: 'ok', names }, 0)],
    })
}

/**
 * Reports a canary that was seen: once per `where`, in trace, audit log, log and metrics. The run continues.
 */
function canaryAlarms(
  { log, telemetry }: Pick<WorkerServices, 'log' | 'telemetry'>,
  writer: RunWriter,
): Alarms & { met(): void } {
  const reported = new Set<string>()
  let met = false
  return {
    met() {
      met = true
    },
    async report(where: string) {
      if (!met) return
      met = false
      if (reported.has(where)) return
      reported.add(where)
      log('error', 'a canary was seen: something in the sandbox of a run reads credentials', { where })
      telemetry.canarySeen()
      const message = `The canary of this sandbox was seen (${where}): something in it reads files that contain credentials and prints them. The value was removed.`
      const details = { code: 'canary_seen', message, retryable: false, phase: 'agent', where }
      await writer.db.transaction(async tx => {
        await writer.append({ entries: [errorEntry(details)] }, tx)
        await insertAuditEntry(tx, {
          organization_id: writer.organization_id,
          user_id: null,
          token_id: null,
          request_id: null,
          action: 'run.canary_seen',
          target_type: 'run',
          target_id: String(writer.run_id),
          detail: { where },
        })
      })
      writer.notify()
    },
  }
}
