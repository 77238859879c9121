import { expect, test } from 'vitest'
import { filePatches, splitPatch, unquote } from './patch.ts'

const file = (path: string) => ({
  path,
  old_path: null,
  status: 'modified' as const,
  additions: 1,
  deletions: 1,
  binary: false,
})
const part = (path: string, body = '@@ -1 +1 @@\n-a\n+b\n') =>
  `diff --git a/${path} b/${path}\nindex 1..2 100644\n--- a/${path}\n+++ b/${path}\n${body}`

test('every file gets its own part of the patch, in any order', () => {
  const patch = part('b.txt') + part('a dir/a.txt')
  const files = filePatches({ files: [file('a dir/a.txt'), file('b.txt')], patch })
  expect(files.map(({ patch }) => patch)).toEqual([part('a dir/a.txt'), part('b.txt')])
})

test('a line of a hunk that resembles a header does not split it', () => {
  const patch = part('a.txt', '@@ -1 +1,2 @@\n-a\n+diff --git a/x b/x\n++++ b/evil.txt\n')
  expect(splitPatch(patch)).toEqual([patch])
  expect(filePatches({ files: [file('a.txt')], patch })[0]?.patch).toBe(patch)
})

test('a file whose part was cut off has no part', () => {
  expect(filePatches({ files: [file('a.txt'), file('b.txt')], patch: part('a.txt') })[1]?.patch).toBeNull()
})

test('names that git quotes are found', () => {
  const quoted =
    'diff --git "a/gr\\303\\274n\\n.txt" "b/gr\\303\\274n\\n.txt"\n--- "a/gr\\303\\274n\\n.txt"\n+++ "b/gr\\303\\274n\\n.txt"\n@@ -1 +1 @@\n-a\n+b\n'
  expect(filePatches({ files: [file('grün\n.txt')], patch: quoted })[0]?.patch).toBe(quoted)
  expect(unquote('"a\\tb\\"c\\\\d"')).toBe('a\tb"c\\d')
})

test('added, deleted, renamed, mode-only and binary files are found', () => {
  const added = 'diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n'
  const deleted = 'diff --git a/d b/d\ndeleted file mode 100644\n--- a/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n'
  const renamed = 'diff --git a/old b/new\nsimilarity index 100%\nrename from old\nrename to new\n'
  const mode = 'diff --git a/run me.sh b/run me.sh\nold mode 100644\nnew mode 100755\n'
  const binary = 'diff --git a/p.png b/p.png\nindex 1..2 100644\nBinary files a/p.png and b/p.png differ\n'
  const files = ['n', 'd', 'new', 'run me.sh', 'p.png'].map(file)
  const patch = added + deleted + renamed + mode + binary
  expect(filePatches({ files, patch }).map(({ patch }) => patch)).toEqual([
    added,
    deleted,
    renamed,
    mode,
    binary,
  ])
})
