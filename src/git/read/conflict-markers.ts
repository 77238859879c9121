/**
 * Where a change leaves the beginning of a conflict that git wrote, in files in which it leaves the end of one too. `patch`: unified diff as
 * `readChanges` has it. Lines count from 1 in the file as it is then.
 */
export function conflictMarkers(patch: string): { path: string; line: number }[] {
  const begun: { path: string; line: number }[] = []
  const ended = new Set<string>()
  let path = ''
  let line = 0
  // A file's own lines begin with a sign: nothing in them is taken for a head.
  for (const text of patch.split('\n')) {
    const hunk = /^@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(text)
    if (hunk) line = Number(hunk[1])
    else if (text.startsWith('diff --git ')) line = 0
    else if (line === 0) path = /^\+\+\+ (?:b\/)?(.*?)\t?$/.exec(text)?.[1] ?? path
    else if (text.startsWith('+') || text.startsWith(' ')) {
      if (/^\+<{7} /.test(text)) begun.push({ path, line })
      if (/^\+>{7} /.test(text)) ended.add(path)
      line++
    }
  }
  return begun.filter(marker => ended.has(marker.path))
}
