import { readFileSync } from 'node:fs'
import type { ContainerSpec } from './engine.ts'

/**
 * A runtime such as gVisor counts as processes of its container: it has threads of its own, some for each
 * folder that is shown.
 */
const RUNTIME_THREADS = 256

/**
 * Returns the request to Docker's API (and Podman's) for a container that shows `spec` and nothing else.
 * `seccomp`: the profile, or a file that contains it.
 */
export function createRequest(
  spec: ContainerSpec,
  {
    name,
    image,
    runtime,
    owner,
    seccomp,
  }: { name: 'docker' | 'podman'; image: string; runtime: string | null; owner: string; seccomp: string },
): object {
  const { bounds } = spec
  const ulimit = (name: string, max: number) => ({ Name: name, Soft: max, Hard: max })
  const tmpfs = (bytes: number) => `rw,exec,nosuid,nodev,mode=1777,size=${bytes}`
  const closed = 'ro,nosuid,nodev,noexec,size=4k'
  return {
    Image: image,
    User: `${spec.user.uid}:${spec.user.gid}`,
    Env: Object.entries(spec.environment).map(([name, value]) => `${name}=${value}`),
    Entrypoint: [],
    Cmd: spec.command,
    WorkingDir: '/workspace',
    Hostname: 'sandbox',
    NetworkDisabled: true,
    Labels: { 'agentrun.owner': owner, 'agentrun.pid': String(process.pid) },
    HostConfig: {
      NetworkMode: 'none',
      IpcMode: 'private',
      CgroupnsMode: 'private',
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges', `seccomp=${seccomp}`],
      Mounts: spec.mounts.map(({ host, inside, writable }) => ({
        Type: 'bind',
        Source: host,
        Target: inside,
        ReadOnly: !writable,
        BindOptions: { Propagation: 'rprivate' },
      })),
      Tmpfs: {
        ...Object.fromEntries(spec.memory_folders.map(({ inside, bytes }) => [inside, tmpfs(bytes)])),
        // Hides what the kernel reports about the machine's devices.
        '/sys': closed,
        // Mounts that Podman adds by itself.
        ...(name === 'podman' && { '/sys/fs/cgroup': closed, '/var/tmp': closed }),
      },
      ShmSize: spec.shared_memory_bytes,
      // Equal values: no swap.
      Memory: bounds.max_memory_bytes,
      MemorySwap: bounds.max_memory_bytes,
      NanoCpus: Math.round(bounds.cpus * 1e9),
      PidsLimit: bounds.max_processes + (runtime === null ? 0 : RUNTIME_THREADS),
      Ulimits: [ulimit('core', 0), ulimit('nofile', spec.max_open_files), ulimit('nproc', ownProcesses())],
      // Lower ports need privileges, as on the host.
      Sysctls: { 'net.ipv4.ip_unprivileged_port_start': '1024' },
      OomScoreAdj: 500,
      LogConfig: { Type: 'none' },
      AutoRemove: true,
      ...(runtime !== null && { Runtime: runtime }),
    },
  }
}

/**
 * Podman requests a million, which fails above its own limit. It is not the real bound, because the kernel
 * counts all containers as one user.
 */
function ownProcesses(): number {
  const [, hard = 'unlimited'] =
    /^Max processes\s+\S+\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
  const max = Number(readFileSync('/proc/sys/kernel/pid_max', 'utf8'))
  return Math.min(max, hard === 'unlimited' ? max : Number(hard))
}
