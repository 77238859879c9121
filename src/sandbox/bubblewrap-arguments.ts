import { existsSync, lstatSync, readdirSync, readlinkSync } from 'node:fs'
import type { SandboxSpec } from './port.ts'
import type { RuntimeFolder } from './runtime-folder.ts'

/** Descriptors that bubblewrap gets besides 0–2; 3 goes on to process 1. */
export const descriptors = { control: 3, arguments: 4, info: 5, seccomp: 6, git_config: 7 }

const environment: Record<string, string> = {
  PATH: '/opt/node/bin:/usr/local/bin:/usr/bin:/bin',
  HOME: '/home/agent',
  USER: 'agent',
  LOGNAME: 'agent',
  SHELL: '/bin/bash',
  LANG: 'C.UTF-8',
  TERM: 'dumb',
  PAGER: 'cat',
  CI: 'true',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
}

/** Parts of the host's /etc that programs below /usr refer to and that hold nothing of this machine's own. */
const shared_etc = ['alternatives', 'ssl/certs', 'ssl/openssl.cnf', 'ld.so.cache', 'services', 'protocols', 'mime.types']

/**
 * The arguments of one sandbox, to be given by `--args`: a root of our own with /usr read-only, /workspace writable, everything unshared,
 * no capability, the system call filter. `pipes` is the host folder that becomes /run/exec.
 */
export function bubblewrapArguments(spec: SandboxSpec, runtime: RuntimeFolder, pipes: string, node_path: string): string[] {
  const tmpfs = (path: string, bytes: number) => ['--size', String(bytes), '--tmpfs', path]
  const show = (host: string, inside: string) => ['--ro-bind', host, inside]
  return [
    ...['--unshare-all', '--unshare-user', '--uid', '1000', '--gid', '1000', '--disable-userns', '--cap-drop', 'ALL'],
    ...['--die-with-parent', '--new-session', '--as-pid-1', '--hostname', 'sandbox', '--info-fd', String(descriptors.info)],
    '--clearenv',
    ...Object.entries(environment).flatMap(([name, value]) => ['--setenv', name, value]),
    ...show('/usr', '/usr'),
    ...systemFolders(),
    ...shared_etc.flatMap(name => (existsSync(`/etc/${name}`) ? show(`/etc/${name}`, `/etc/${name}`) : [])),
    ...Object.entries(runtime.etc).flatMap(([name, host]) => show(host, `/etc/${name}`)),
    ...show(node_path, '/opt/node/bin/node'),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...tmpfs('/dev/shm', 64 * 1024 * 1024),
    ...tmpfs('/tmp', spec.limits.max_tmp_bytes),
    ...tmpfs('/home/agent', spec.limits.max_tmp_bytes),
    ...['--perms', '0644', '--file', String(descriptors.git_config), '/home/agent/.gitconfig'],
    ...show(runtime.init, '/run/init'),
    ...show(pipes, '/run/exec'),
    ...spec.read_only.flatMap(({ host, inside }) => show(host, inside)),
    ...['--bind', spec.workspace, '/workspace', '--chdir', '/workspace'],
    ...['--remount-ro', '/', '--remount-ro', '/dev', '--seccomp', String(descriptors.seccomp)],
  ]
}

/** The command of process 1. Limits are in the units of bash's `ulimit`. */
export function initCommand({ limits }: SandboxSpec): string[] {
  const kib = (bytes: number) => String(Math.max(1, Math.floor(bytes / 1024)))
  const bounds = [String(limits.max_processes), kib(limits.max_file_bytes), kib(limits.max_process_bytes), String(limits.niceness ?? 10)]
  return ['/run/init/bash', '/run/init/init.sh', ...bounds]
}

/** /bin, /lib and so on: links into /usr on most systems, folders on others. */
function systemFolders(): string[] {
  return readdirSync('/')
    .filter(name => /^(bin|sbin|lib\d*|libx32)$/.test(name))
    .flatMap(name => {
      const path = `/${name}`
      return lstatSync(path).isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path]
    })
}
