import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { servePlain } from './servers.ts'

/** `npmrc`: the settings by which npm uses it from inside a sandbox, whose proxy is the only way there. */
export type NpmRegistry = AsyncDisposable & {
  npmrc: string
  lockfile(name: string, dependencies: string[]): string
}

/** Local names bypass the proxy. */
const ADDRESS = '127.0.0.2'

/** Version 1.0.0 of packages, by their files; the registry has no other metadata. */
export async function startNpmRegistry(
  packages: Record<string, Record<string, string>>,
): Promise<NpmRegistry> {
  const folder = mkdtempSync(join(tmpdir(), 'agentrun-npm-'))
  const tarballs = new Map(
    Object.entries(packages).map(([name, files]) => {
      const path = join(folder, name)
      mkdirSync(join(path, 'package'), { recursive: true })
      for (const [file, text] of Object.entries({
        'package.json': JSON.stringify({ name, version: '1.0.0' }),
        ...files,
      }))
        writeFileSync(join(path, 'package', file), text)
      execFileSync('tar', ['-czf', join(folder, `${name}.tgz`), '-C', path, 'package'])
      return [name, readFileSync(join(folder, `${name}.tgz`))] as const
    }),
  )
  const integrity = (bytes: Buffer) => `sha512-${createHash('sha512').update(bytes).digest('base64')}`
  const server = await servePlain((request, response) => {
    const [, name = '', tarball] = /^\/([\w-]+)(\/-\/\1-1\.0\.0\.tgz)?$/.exec(request.url ?? '') ?? []
    const bytes = tarballs.get(name)
    if (bytes === undefined) return response.writeHead(404).end('{}')
    if (tarball !== undefined) return response.end(bytes)
    const dist = { tarball: `${origin}/${name}/-/${name}-1.0.0.tgz`, integrity: integrity(bytes) }
    const version = { name, version: '1.0.0', dist }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ name, 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': version } }))
  }, ADDRESS)
  const origin = `http://${ADDRESS}:${server.port}`
  return {
    npmrc: `registry=${origin}/\nfetch-retries=0\nupdate-notifier=false\n`,
    lockfile(name, dependencies) {
      const wanted = Object.fromEntries(dependencies.map(one => [one, '1.0.0']))
      const locked = dependencies.map(one => {
        const bytes = tarballs.get(one) ?? Buffer.of()
        const at = {
          version: '1.0.0',
          resolved: `${origin}/${one}/-/${one}-1.0.0.tgz`,
          integrity: integrity(bytes),
        }
        return [`node_modules/${one}`, at]
      })
      const own = { name, version: '1.0.0', dependencies: wanted }
      return JSON.stringify({
        name,
        version: '1.0.0',
        lockfileVersion: 3,
        requires: true,
        packages: { '': own, ...Object.fromEntries(locked) },
      })
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
