import { readFileSync } from 'node:fs'
import { shellQuote } from '../../core/text/shell-quote.ts'
import type { Sandbox } from '../port.ts'

/** What no sandbox may reach, and its address in this cluster. */
type Target = { name: string; host: string; port: number; udp?: boolean }

const KUBELET_PORT = 10_250
const CONNECT_SECONDS = 2

/**
 * Returns what no pod may reach. `api`: the address that the worker itself uses; `node`: the machine of the
 * pods.
 */
export function targets(api: URL, node: string | null, name_servers: string[]): Target[] {
  return [
    {
      name: 'the API server of the cluster',
      host: api.hostname.replace(/^\[|\]$/g, ''),
      port: Number(api.port || 443),
    },
    ...(node === null ? [] : [{ name: 'the node', host: node, port: KUBELET_PORT }]),
    { name: 'the metadata service of the cloud', host: '169.254.169.254', port: 80 },
    ...name_servers.flatMap(host => [
      { name: 'the name server', host, port: 53 },
      { name: 'the name server', host, port: 53, udp: true },
    ]),
  ]
}

/** Returns the name servers of this process, which are those of the cluster. */
export function nameServers(resolv_conf = readFileSync('/etc/resolv.conf', 'utf8')): string[] {
  return [...resolv_conf.matchAll(/^nameserver\s+(\S+)/gm)].flatMap(
    ([, address = '']) => address.split('%')[0] ?? [],
  )
}

/**
 * Returns the first of `targets` that a process in the sandbox can reach, as text for the operator; null when
 * it reaches none. A refused connection counts as reached: no policy blocked it. Throws SandboxLostError.
 */
export async function findReachable(sandbox: Sandbox, list: Target[]): Promise<string | null> {
  const tries = list.map(
    ({ host, port, udp }, index) => `${udp ? 'ask' : 'connect'} ${index} ${shellQuote(host)} ${port} &`,
  )
  const { output } = await sandbox.exec({
    command: `${FUNCTIONS}\n${tries.join('\n')}\nwait; echo probed`,
    shell: 'separate',
    timeout_ms: 5 * CONNECT_SECONDS * 1000,
    max_output_bytes: 10_000,
  })
  const probe_output = Buffer.from(output).toString()
  if (!probe_output.endsWith('probed\n'))
    return `the probe could not run in it (${probe_output.trim().slice(-200)})`
  const [reached] = list.filter((_, index) => probe_output.includes(`reached ${index}\n`))
  return reached
    ? `${reached.name} (${reached.host}, port ${reached.port}${reached.udp ? ' of UDP' : ''}) can be reached from it`
    : null
}

/**
 * The query is for the root's name servers: every name server responds to it in some way. A pod's own
 * loopback may refuse.
 */
const FUNCTIONS = String.raw`
connect() {
  local error
  if error=$(timeout ${CONNECT_SECONDS} /bin/bash -c 'exec 3<>"/dev/tcp/$0/$1"' "$2" "$3" 2>&1); then echo "reached $1"
  elif [[ $error == *refused* && $2 != 127.* && $2 != ::1 ]]; then echo "reached $1"; fi
}
ask() {
  exec 3<>"/dev/udp/$2/$3" || return
  printf 'AA\1\0\0\1\0\0\0\0\0\0\0\0\2\0\1' >&3
  read -r -t ${CONNECT_SECONDS} -N 1 -u 3 && echo "reached $1"
} 2>/dev/null
`
