import type { ApiDocument, Operation } from '../api/api-document.ts'

export type Entry = { id: string; method: string; path: string; aliases: string[]; operation: Operation }
export type Chapter = { name: string; description: string; entries: Entry[] }

/**
 * The operations by chapter, in the order of the document. One that is served at several paths is one entry.
 */
export function chaptersOf({ tags, paths }: ApiDocument): Chapter[] {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  const entries = all
    .filter(({ operation }) => operation['x-alias-of'] === undefined)
    .map(one => ({
      ...one,
      id: one.operation.operationId,
      aliases: all
        .filter(other => other.operation['x-alias-of'] === one.path && other.method === one.method)
        .map(other => other.path),
    }))
  return tags.map(tag => ({
    ...tag,
    entries: entries.filter(({ operation }) => operation.tags.includes(tag.name)),
  }))
}

/**
 * The chapters with only those operations in which every word is found: in path, name, summary or
 * description.
 */
export function searchChapters(chapters: Chapter[], text: string): Chapter[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const found = ({ id, method, path, aliases, operation }: Entry, chapter: string) => {
    const all = [id, method, path, ...aliases, chapter, operation.summary, operation.description]
      .join('\n')
      .toLowerCase()
    return words.every(word => all.includes(word))
  }
  return chapters
    .map(chapter => ({ ...chapter, entries: chapter.entries.filter(entry => found(entry, chapter.name)) }))
    .filter(chapter => chapter.entries.length > 0)
}
