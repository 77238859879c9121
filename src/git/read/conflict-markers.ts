/**
 * Returns where a change leaves the first line of a conflict that git wrote, in files in which it also leaves
 * the last line of one. `patch`: unified diff as of `readChanges`. Lines count from 1 in the new file.
 */
export function conflictMarkers(patch: string): { path: string; line: number }[] {
  const first_lines: { path: string; line: number }[] = []
  const ended = new Set<string>()
  let path = ''
  let line = 0
  // Lines of a file begin with a sign, so none can be mistaken for a header.
  for (const text of patch.split('\n')) {
    const hunk = /^@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(text)
    if (hunk) line = Number(hunk[1])
    else if (text.startsWith('diff --git ')) line = 0
    else if (line === 0) path = /^\+\+\+ (?:b\/)?(.*?)\t?$/.exec(text)?.[1] ?? path
    else if (text.startsWith('+') || text.startsWith(' ')) {
      if (/^\+<{7} /.test(text)) first_lines.push({ path, line })
      if (/^\+>{7} /.test(text)) ended.add(path)
      line++
    }
  }
  return first_lines.filter(marker => ended.has(marker.path))
}
