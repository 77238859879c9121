import { mkdirSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { shellQuote } from '../../core/text/shell-quote.ts'
import { handOver } from '../../system/own-folder.ts'
import type { SystemUser } from '../../system/users.ts'
import type { Sandbox, SandboxLimits, SandboxSpec } from '../port.ts'
import { removeWorkspace } from '../workspaces/workspaces.ts'

const mebibyte = 1024 * 1024
const limits: SandboxLimits = {
  max_memory_bytes: 256 * mebibyte,
  cpus: 1,
  max_processes: 32,
  max_disk_bytes: 64 * mebibyte,
  max_files: 10_000,
  max_file_bytes: mebibyte,
  max_tmp_bytes: mebibyte,
  max_process_bytes: 1024 * mebibyte,
}

/** The differences between drivers. `own_root`: /var/lib exists and is not the host's. */
type ExpectedSandbox = {
  uid: number
  own_root: boolean
  usr: 'nosuid' | 'read-only'
  /** Reports what it can reach when it has more than its loopback; null: there must be nothing more. */
  findReachable: ((sandbox: Sandbox) => Promise<string | null>) | null
  /** Adds a remedy to an error. */
  explain: (complaint: string) => string
}

/**
 * Starts a real sandbox in a new folder below `runtime_dir` and probes it from inside. Never throws: any
 * failure is the reason.
 */
export async function proveIsolation(
  start: (spec: SandboxSpec) => Promise<Sandbox>,
  { user, runtime_dir, ...expected }: { user: SystemUser | null; runtime_dir: string } & ExpectedSandbox,
): Promise<{ ok: true } | { ok: false; reason: string }> {
  let workspace: string | undefined
  try {
    mkdirSync(runtime_dir, { recursive: true })
    workspace = mkdtempSync(join(runtime_dir, 'self-test-'))
    handOver(workspace, 0o700, user)
    await using sandbox = await start({ workspace, read_only: [], limits })
    const { output } = await sandbox.exec({
      command: probe([workspace, runtime_dir, ...(expected.own_root ? [] : ['/var/lib'])]),
      shell: 'separate',
      timeout_ms: 5_000,
      max_output_bytes: 10_000,
    })
    const fault =
      findFault(Buffer.from(output).toString(), expected) ?? (await expected.findReachable?.(sandbox)) ?? null
    return fault
      ? { ok: false, reason: `the sandbox does not isolate on this machine: ${fault}` }
      : { ok: true }
  } catch (error) {
    return { ok: false, reason: expected.explain(error instanceof Error ? error.message : String(error)) }
  } finally {
    if (workspace) await removeWorkspace(workspace, user).catch(() => {})
  }
}

function probe(host_paths: string[]): string {
  return `
grep -E '^(Uid|CapPrm|CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status
while IFS=: read -r name rest; do [[ $rest == *[0-9]* ]] && echo "interface $name"; done </proc/net/dev
for path in /etc/shadow /root /proc/1/environ ${host_paths.map(shellQuote).join(' ')}; do
  cat "$path" 2>&1 | grep -qE 'No such file|Permission denied' || echo "visible $path"
done
while read -r _ folder _ options _; do [[ $folder == /usr && ,$options, == *,ro,* && ,$options, == *,nosuid,* ]] && echo 'usr closed'; done </proc/self/mounts
[[ $(touch /usr/written 2>&1) == *Read-only* ]] && echo 'usr read-only'
unshare --user true 2>/dev/null && echo 'namespace made'
echo hello >/workspace/file && echo 'workspace written'
`
}

/** Returns what the sandbox reported and must not, or did not report and must; null when it is isolated. */
export function findFault(
  report: string,
  { uid, usr, findReachable }: Omit<ExpectedSandbox, 'own_root' | 'explain'>,
): string | null {
  const lines = report.split('\n').map(line => line.trim().replace(/\s+/g, ' '))
  const wanted: Record<string, string> = {
    [`Uid: ${uid} ${uid} ${uid} ${uid}`]: `commands do not run as user ${uid}`,
    'CapPrm: 0000000000000000': 'commands have capabilities',
    'CapEff: 0000000000000000': 'commands have capabilities',
    'CapBnd: 0000000000000000': 'commands can gain capabilities',
    'NoNewPrivs: 1': 'set-user-id programs would gain rights',
    'Seccomp: 2': 'system calls are not filtered',
    'usr read-only': '/usr can be written',
    ...(usr === 'nosuid' && { 'usr closed': '/usr is not mounted read-only and nosuid' }),
    'workspace written': 'the workspace cannot be written',
  }
  const missing = Object.keys(wanted).find(line => !lines.includes(line))
  if (missing) return wanted[missing] ?? missing
  const interfaces =
    findReachable === null
      ? lines.filter(line => line.startsWith('interface ') && line !== 'interface lo')
      : []
  if (interfaces.length > 0) return `it has the network ${interfaces.join(', ')}`
  const seen = lines.find(line => line.startsWith('visible '))
  if (seen) return `${seen.slice('visible '.length)} of the host can be read`
  return lines.includes('namespace made') ? 'new user namespaces can be created in it' : null
}
