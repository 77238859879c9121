import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { isAlive } from '../../system/processes.ts'
import { SandboxError } from '../port.ts'
import { seccompProgram } from '../seccomp/seccomp.ts'
import { seccompProfile } from '../seccomp/seccomp-profile.ts'
import { listenProgram } from './listen-program.ts'

/** Files that the host prepares once for all sandboxes; every path is a host path. */
export type RuntimeFolder = {
  seccomp: string
  /** The same filter for container engines. */
  seccomp_profile: string
  /**
   * Becomes /run/init: a bash that cannot be read, the script of process 1, the port listener, and ripgrep.
   */
  init: string
  /** File name → host path of the sandbox's files in /etc. */
  etc: Record<string, string>
  /** An empty, readable folder, mounted over folders of the host that contain its settings. */
  empty: string
  /** An empty folder, where each layer mounts what it stores in its own namespace. */
  changes: string
  /** Each running sandbox has a folder of pipes in here. */
  pipes: string
}

const etcFiles = ({ uid, gid }: { uid: number; gid: number }): Record<string, string> => ({
  passwd: `root:x:0:0:root:/root:/usr/sbin/nologin\nagent:x:${uid}:${gid}:agent:/home/agent:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n`,
  group: `root:x:0:\nagent:x:${gid}:\nnogroup:x:65534:\n`,
  hosts: '127.0.0.1 localhost sandbox\n::1 localhost\n',
  'nsswitch.conf':
    'passwd: files\ngroup: files\nshadow: files\nhosts: files\nservices: files\nprotocols: files\n',
  'host.conf': 'multi on\n',
  // Container engines would mount that of the host.
  'resolv.conf': '',
  hostname: 'sandbox\n',
  // The workspace's own configuration names the author; this is for repositories that the agent creates
  // itself.
  gitconfig:
    '[user]\n\tname = Agent\n\temail = agent@sandbox.invalid\n[safe]\n\tdirectory = *\n[init]\n\tdefaultBranch = main\n[advice]\n\tdetachedHead = false\n',
})

/**
 * Writes the files of sandboxes, in which everything runs as `agent`, below `folder`, which is created when
 * missing, and removes pipes of killed processes. Safe when several processes of this machine prepare the
 * same folder. Throws SandboxError when this machine cannot run sandboxes at all.
 */
export function prepareRuntimeFolder(folder: string, agent = { uid: 1000, gid: 1000 }): RuntimeFolder {
  if (process.platform !== 'linux' || (process.arch !== 'x64' && process.arch !== 'arm64')) {
    throw new SandboxError(
      `no sandbox for ${process.platform} on ${process.arch}: Linux on x64 or arm64 is needed`,
    )
  }
  if (!existsSync('/bin/bash')) throw new SandboxError('bash is not installed: install the package "bash"')
  const init = join(folder, 'init')
  const etc = join(folder, 'etc')
  const pipes = join(folder, 'pipes')
  const empty = join(folder, 'empty')
  const changes = join(folder, 'changes')
  for (const path of [folder, init, etc, pipes, empty, changes]) {
    mkdirSync(path, { recursive: true })
    chmodSync(path, path === empty ? 0o755 : 0o711)
  }
  const etc_files = etcFiles(agent)
  for (const [name, text] of Object.entries(etc_files))
    installFile(join(etc, name), 0o444, path => writeFileSync(path, text))
  const architecture = process.arch === 'arm64' ? 'arm64' : 'x64'
  const seccomp = join(folder, 'seccomp.bpf')
  installFile(seccomp, 0o444, path => writeFileSync(path, seccompProgram(architecture)))
  const seccomp_profile = join(folder, 'seccomp.json')
  installFile(seccomp_profile, 0o444, path => writeFileSync(path, seccompProfile()))
  for (const name of ['init.sh', 'bridge.cjs'])
    installFile(join(init, name), 0o444, path =>
      copyFileSync(new URL(`../inside/${name}`, import.meta.url), path),
    )
  // A process whose program file cannot be read is protected from others of its user: /proc shows no memory,
  // descriptors or environment.
  installFile(join(init, 'bash'), 0o111, path => copyFileSync('/bin/bash', path))
  installFile(join(init, 'listen'), 0o111, path => writeFileSync(path, listenProgram(architecture)))
  const ripgrep = findRipgrep()
  if (ripgrep !== null) installFile(join(init, 'rg'), 0o555, path => copyFileSync(ripgrep, path))
  removeKilledPipes(pipes)
  return {
    seccomp,
    seccomp_profile,
    init,
    empty,
    changes,
    pipes,
    etc: Object.fromEntries(Object.keys(etc_files).map(name => [name, join(etc, name)])),
  }
}

/**
 * The program that npm brought for this machine; linked statically, it runs in every image. Null: npm
 * installed no optional packages.
 */
function findRipgrep(): string | null {
  try {
    return join(
      dirname(createRequire(import.meta.url).resolve(`@vscode/ripgrep-linux-${process.arch}/package.json`)),
      'bin/rg',
    )
  } catch {
    return null
  }
}

/** By rename: a process that starts a sandbox at this moment sees the old file or the new one. */
function installFile(path: string, mode: number, write: (path: string) => void): void {
  const fresh = `${path}.${process.pid}`
  rmSync(fresh, { force: true })
  write(fresh)
  chmodSync(fresh, mode)
  renameSync(fresh, path)
}

/** The name of a pipe folder starts with the id of the process that created it. */
function removeKilledPipes(pipes: string): void {
  for (const name of readdirSync(pipes)) {
    if (!isAlive(Number.parseInt(name, 10))) rmSync(join(pipes, name), { recursive: true, force: true })
  }
}
