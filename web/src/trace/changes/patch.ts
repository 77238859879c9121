import type { RunDiff } from '../../../../src/contract/runs/run-diff.ts'

type FilePatch = { file: RunDiff['files'][number]; patch: string | null }

/** Splits a unified diff of git at its `diff --git` lines. No line of a hunk can start with these words. */
export function splitPatch(patch: string): string[] {
  return patch === '' ? [] : patch.split(/^(?=diff --git )/m).filter(part => part.startsWith('diff --git '))
}

/** Every changed file with its part of the patch; null if that was cut off or is empty. */
export function filePatches({ files, patch }: Pick<RunDiff, 'files' | 'patch'>): FilePatch[] {
  const by_path = new Map<string, string>()
  for (const part of splitPatch(patch)) {
    const path = pathOfPart(part)
    // A file that became a link, for example, is a deletion and an addition of the same path.
    if (path !== null) by_path.set(path, (by_path.get(path) ?? '') + part)
  }
  return files.map(file => ({ file, patch: by_path.get(file.path) ?? null }))
}

function pathOfPart(part: string): string | null {
  const head = part.slice(0, part.search(/^@@ /m) >>> 0)
  const after = /^\+\+\+ (.+)$/m.exec(head)?.[1]
  const before = /^--- (.+)$/m.exec(head)?.[1]
  const renamed = /^(?:rename|copy) to (.+)$/m.exec(head)?.[1]
  const named = [after, before].find(name => name !== undefined && name !== '/dev/null')
  if (named !== undefined) return unquote(named).replace(/^[ab]\//, '')
  if (renamed !== undefined) return unquote(renamed)
  // Only a mode, or a binary file: `diff --git a/x b/x`, both names the same.
  const line = head.split('\n', 1)[0]?.slice('diff --git '.length) ?? ''
  const [quoted] = /^"b\/(?:[^"\\]|\\.)*"$/.exec(line.slice(line.lastIndexOf(' "b/') + 1)) ?? []
  return (quoted ? unquote(quoted) : line.slice((line.length + 1) / 2)).replace(/^b\//, '') || null
}

const escapes: Record<string, number> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, '\\': 92 }

/**
 * A name as git quotes it: octal bytes and C escapes between double quotes. A tab ends an unquoted name with
 * spaces.
 */
export function unquote(name: string): string {
  if (!name.startsWith('"')) return name.replace(/\t$/, '')
  const bytes: number[] = []
  for (const match of name.slice(1, -1).matchAll(/\\([0-7]{3}|.)|[^\\]+/gs)) {
    const code = match[1]
    if (code === undefined) bytes.push(...new TextEncoder().encode(match[0]))
    else bytes.push(code.length === 3 ? Number.parseInt(code, 8) : (escapes[code] ?? code.charCodeAt(0)))
  }
  return new TextDecoder().decode(new Uint8Array(bytes))
}
