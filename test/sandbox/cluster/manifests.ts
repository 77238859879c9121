import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { KubernetesObject } from './schemas.ts'

const folder = join(import.meta.dirname, '../../../deploy/kubernetes')

/** All manifests for a cluster, as `kubectl apply -f deploy/kubernetes` reads them. */
export function readManifests(): (KubernetesObject & { file: string })[] {
  const files = readdirSync(folder).filter(name => name.endsWith('.yaml'))
  return files.flatMap(file =>
    parseAllDocuments(readFileSync(join(folder, file), 'utf8')).map(document => ({
      ...(document.toJS() as KubernetesObject),
      file,
    })),
  )
}
