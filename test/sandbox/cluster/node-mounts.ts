import { chmodSync, existsSync, lstatSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { IPod } from 'kubernetes-models/v1/Pod'

export type PodSpec = NonNullable<IPod['spec']>
export type Container = PodSpec['containers'][number]
type Mount = {
  Type: 'bind' | 'tmpfs'
  Source?: string
  Target: string
  ReadOnly?: boolean
  TmpfsOptions?: { SizeBytes: number; Mode: number }
}

/** Why a container is not started, as a message of the kubelet. */
export class NotStartedError extends Error {
  readonly reason: string
  constructor(reason: string, message: string) {
    super(message)
    this.reason = reason
  }
}

const bind = (Source: string, Target: string, ReadOnly = true): Mount => ({
  Type: 'bind',
  Source,
  Target,
  ReadOnly,
})

/** What the image would hold. */
export function imageMounts(): Mount[] {
  const etc = [
    'alternatives',
    'ssl/certs',
    'ssl/openssl.cnf',
    'ld.so.cache',
    'services',
    'protocols',
    'mime.types',
  ].map(name => `/etc/${name}`)
  return [
    bind('/usr', '/usr'),
    ...etc.filter(path => existsSync(path)).map(path => bind(path, path)),
    bind(process.execPath, '/opt/node/bin/node'),
  ]
}

/** The files that a kubelet puts into each container, unless the pod mounts something there. */
export function nodeFiles(spec: PodSpec, container: Container, folder: string): Mount[] {
  const contents = {
    '/etc/hosts': '127.0.0.1\tlocalhost\n10.244.0.7\tsandbox\n',
    '/etc/resolv.conf': (spec.dnsConfig?.nameservers ?? [])
      .map(address => `nameserver ${address}\n`)
      .join(''),
    '/etc/hostname': `${spec.hostname}\n`,
  }
  return Object.entries(contents).flatMap(([target, content]) => {
    if (container.volumeMounts?.some(({ mountPath }) => mountPath === target)) return []
    const path = join(folder, target.replaceAll('/', '-'))
    writeFileSync(path, content)
    chmodSync(path, 0o644)
    return [bind(path, target, false)]
  })
}

/** Of mode 0777, without a sticky bit, as Kubernetes makes them. */
export function memoryFolders(spec: PodSpec, container: Container): Record<string, string> {
  const found = (container.volumeMounts ?? []).flatMap(({ name, mountPath }) => {
    const { emptyDir } = spec.volumes?.find(volume => volume.name === name) ?? {}
    return emptyDir?.medium === 'Memory'
      ? [[mountPath, `exec,suid,dev,mode=777,size=${quantity(emptyDir.sizeLimit)}`]]
      : []
  })
  return Object.fromEntries(found)
}

export function volumeMounts(spec: PodSpec, container: Container, claims: Record<string, string>): Mount[] {
  return (container.volumeMounts ?? []).flatMap(
    ({ name, mountPath, subPath = '', readOnly = false }): Mount[] => {
      const volume = spec.volumes?.find(volume => volume.name === name)
      const { emptyDir, persistentVolumeClaim } = volume ?? {}
      if (emptyDir?.medium === 'Memory') return []
      const root = claims[persistentVolumeClaim?.claimName ?? '']
      if (root === undefined) throw new NotStartedError('ContainerCreating', '')
      let path = root
      for (const part of subPath.split('/').filter(Boolean)) {
        path = join(path, part)
        // As the kubelet does: a folder for a missing path, and never a link.
        if (!existsSync(path)) mkdirSync(path, { mode: 0o750 })
        if (part === '..' || lstatSync(path).isSymbolicLink())
          throw new NotStartedError(
            'CreateContainerConfigError',
            `failed to prepare subPath for volumeMount "${name}" of container "${container.name}"`,
          )
      }
      return [bind(path, mountPath, readOnly)]
    },
  )
}

/** Kubernetes' quantities, those that we use. */
export function quantity(value: string | number | undefined): number {
  const [, digits = '', unit = ''] = /^([\d.]+)(m|Ki|Mi|Gi)?$/.exec(String(value ?? 0)) ?? []
  const factors: Record<string, number> = { m: 0.001, Ki: 1024, Mi: 1024 ** 2, Gi: 1024 ** 3 }
  return Number(digits) * (factors[unit] ?? 1)
}
