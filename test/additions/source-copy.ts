import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { clone } from '../source-tree.ts'

/** Inserts `text` into a file behind the text `behind`, which it contains once; null: into a new file. */
export type Insertion = { file: string; behind: string | null; text: string }

export type SourceCopy = Disposable & {
  folder: string
  /** Makes the insertions. Returns what undoes them. */
  insert(insertions: readonly Insertion[]): Disposable
}

/** Copies these files and folders of the clone, in which additions begin. */
export function copySources(paths: readonly string[]): SourceCopy {
  const folder = mkdtempSync(join(tmpdir(), 'additions-'))
  const isSource = (path: string) => !/\/(?:node_modules|dist|pictures)$/.test(path)
  for (const path of paths)
    cpSync(join(clone, path), join(folder, path), { recursive: true, filter: isSource })
  symlinkSync(join(clone, 'node_modules'), join(folder, 'node_modules'))
  return {
    folder,
    insert: insertions => insert(folder, insertions),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}

function insert(folder: string, insertions: readonly Insertion[]): Disposable {
  const stack = new DisposableStack()
  for (const { file, behind, text } of insertions) {
    const path = join(folder, file)
    if (behind === null) {
      writeFileSync(path, text, { flag: 'wx' })
      stack.defer(() => rmSync(path))
      continue
    }
    const source = readFileSync(path, 'utf8')
    expect(`${file}: ${source.split(behind).length - 1} × ${behind}`).toBe(`${file}: 1 × ${behind}`)
    writeFileSync(
      path,
      source.replace(behind, () => behind + text),
    )
    stack.defer(() => writeFileSync(path, source))
  }
  return stack
}
