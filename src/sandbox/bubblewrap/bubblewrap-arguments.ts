import { hostEnvironment } from '../../core/sandbox-environment.ts'
import type { SandboxSocket, SandboxSpec } from '../port.ts'
import type { RuntimeFolder } from '../process/runtime-folder.ts'
import { initParameters } from '../process/start-init.ts'
import { nodeHeaders, ownFiles, systemFiles, systemLinks } from './host-files.ts'

/**
 * Descriptors that bubblewrap gets in addition to 0–2; process 1 inherits 3, and 7 when ports are requested.
 */
export const descriptors = { control: 3, arguments: 4, info: 5, seccomp: 6, channel: 7 }

/**
 * Returns the arguments of one sandbox for `--args`: a new root with /usr read-only, /workspace writable,
 * everything unshared, no capability, the system call filter. `pipes` is the host folder that becomes
 * /run/exec.
 */
export function bubblewrapArguments(
  spec: SandboxSpec,
  runtime: RuntimeFolder,
  pipes: string,
  node_path: string,
): string[] {
  const tmpfs = (path: string, bytes: number) => ['--size', String(bytes), '--tmpfs', path]
  const show = (host: string, inside: string) => ['--ro-bind', host, inside]
  return [
    ...[
      '--unshare-all',
      '--unshare-user',
      '--uid',
      '1000',
      '--gid',
      '1000',
      '--disable-userns',
      '--cap-drop',
      'ALL',
    ],
    ...[
      '--die-with-parent',
      '--new-session',
      '--as-pid-1',
      '--hostname',
      'sandbox',
      '--info-fd',
      String(descriptors.info),
    ],
    '--clearenv',
    ...Object.entries({ ...spec.environment, ...hostEnvironment(nodeHeaders(node_path) !== null) }).flatMap(
      ([name, value]) => ['--setenv', name, value],
    ),
    ...systemLinks().flatMap(({ target, inside }) => ['--symlink', target, inside]),
    ...[...systemFiles(node_path, runtime.empty), ...ownFiles(runtime)].flatMap(({ host, inside }) =>
      show(host, inside),
    ),
    ...['--proc', '/proc', '--dev', '/dev'],
    // As large as /tmp: browsers and databases exchange data in it.
    ...tmpfs('/dev/shm', spec.limits.max_tmp_bytes),
    ...tmpfs('/tmp', spec.limits.max_tmp_bytes),
    ...(spec.home === undefined
      ? tmpfs('/home/agent', spec.limits.max_tmp_bytes)
      : ['--bind', spec.home, '/home/agent']),
    ...show(pipes, '/run/exec'),
    ...[...spec.read_only, ...(spec.sockets ?? [])].flatMap(({ host, inside }) => show(host, inside)),
    ...['--bind', spec.workspace, '/workspace', '--chdir', '/workspace'],
    ...[
      '--remount-ro',
      '/',
      '--remount-ro',
      '/dev',
      '--remount-ro',
      '/proc',
      '--seccomp',
      String(descriptors.seccomp),
    ],
  ]
}

/** Returns the command of process 1. */
export const initCommand = (spec: SandboxSpec): string[] => [
  ...['/run/init/bash', '/run/init/init.sh', 'bubblewrap', ...initParameters(spec.limits)],
  ...portsOf(spec.sockets).map(String),
]

/** Returns the ports that a sandbox needs on its own loopback. */
export const portsOf = (sockets: SandboxSocket[] = []): number[] =>
  sockets.flatMap(({ port }) => (port === undefined ? [] : [port]))
