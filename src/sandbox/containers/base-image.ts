import { createHash } from 'node:crypto'

type Entry = { path: string; link?: string; mode: number }

/**
 * Builds a root that contains only mount points and links: the programs are the host's. `name` is a digest of
 * its content.
 */
export function baseImage(links: { inside: string; target: string }[]): { name: string; tar: Buffer } {
  const folders = ['dev', 'etc', 'home', 'opt', 'opt/node', 'proc', 'run', 'sys', 'usr', 'workspace']
  const entries = [
    ...folders.map((path): Entry => ({ path: `${path}/`, mode: 0o755 })),
    // A memory file system mounted there takes over the mode.
    ...['home/agent', 'tmp'].map((path): Entry => ({ path: `${path}/`, mode: 0o1777 })),
    ...links.map(({ inside, target }): Entry => ({ path: inside.slice(1), link: target, mode: 0o777 })),
  ]
  const tar = Buffer.concat([...entries.map(header), Buffer.alloc(1024)])
  // Podman 4 imports under any name, but with this tag only.
  return {
    name: `localhost/agentrun-base-${createHash('sha256').update(tar).digest('hex').slice(0, 12)}:latest`,
    tar,
  }
}

/** A header of a POSIX (ustar) archive: owned by root, with time 0. */
function header({ path, link, mode }: Entry): Buffer {
  const block = Buffer.alloc(512)
  const octal = (value: number, at: number, length: number) =>
    block.write(value.toString(8).padStart(length - 1, '0'), at, 'latin1')
  block.write(path, 0, 100, 'latin1')
  octal(mode, 100, 8)
  for (const at of [108, 116]) octal(0, at, 8)
  for (const at of [124, 136]) octal(0, at, 12)
  block.write(link === undefined ? '5' : '2', 156, 'latin1')
  if (link !== undefined) block.write(link, 157, 100, 'latin1')
  block.write('ustar\x0000', 257, 'latin1')
  block.fill(' ', 148, 156)
  octal(
    block.reduce((sum, byte) => sum + byte, 0),
    148,
    7,
  )
  return block
}
