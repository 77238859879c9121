import { EventEmitter } from 'node:events'
import type { KubernetesObject } from './schemas.ts'

export type StoredObject = KubernetesObject & {
  metadata: { uid: string; resourceVersion: string; labels?: Record<string, string> }
}
export type Change = { version: number; type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: StoredObject }

/**
 * The objects of a cluster with their versions, and the changes that a watch gets. The author of a change
 * passes the new object.
 */
export class Store {
  private readonly objects = new Map<string, StoredObject>()
  private changes: Change[] = []
  private forgotten = 0
  private readonly news = new EventEmitter().setMaxListeners(0)
  version = 1_000

  all(kind: string, namespace: string): StoredObject[] {
    return [...this.objects.values()].filter(
      object => object.kind === kind && object.metadata.namespace === namespace,
    )
  }
  everything(): StoredObject[] {
    return [...this.objects.values()]
  }
  find(kind: string, namespace: string, name: string): StoredObject | undefined {
    return this.objects.get(`${kind}/${namespace}/${name}`)
  }
  add(object: KubernetesObject): StoredObject {
    const uid = crypto.randomUUID()
    return this.put('ADDED', { ...object, metadata: { ...object.metadata, uid, resourceVersion: '' } })
  }
  /** Nothing happens when it is gone meanwhile. */
  change(before: StoredObject, fields: object): StoredObject | undefined {
    const now = this.find(before.kind, before.metadata.namespace ?? '', before.metadata.name)
    return now?.metadata.uid === before.metadata.uid ? this.put('MODIFIED', { ...now, ...fields }) : undefined
  }
  remove(object: StoredObject): void {
    const now = this.find(object.kind, object.metadata.namespace ?? '', object.metadata.name)
    if (now?.metadata.uid === object.metadata.uid) this.put('DELETED', now)
  }
  /** Like a compaction of etcd: a watch from before this moment has to list again. */
  compact(): void {
    this.forgotten = this.version
    this.changes = []
    this.news.emit('news')
  }
  /** The changes after `version`; null: they are compacted. */
  since(version: number): Change[] | null {
    return version < this.forgotten ? null : this.changes.filter(change => change.version > version)
  }
  onNews(listener: () => void): () => void {
    this.news.on('news', listener)
    return () => this.news.off('news', listener)
  }

  private put(type: Change['type'], object: StoredObject): StoredObject {
    const version = ++this.version
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } }
    const key = `${object.kind}/${object.metadata.namespace ?? ''}/${object.metadata.name}`
    if (type === 'DELETED') this.objects.delete(key)
    else this.objects.set(key, stored)
    this.changes.push({ version, type, object: stored })
    this.news.emit('news')
    return stored
  }
}
