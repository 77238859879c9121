/**
 * Parts of a repository that a clone does not contain: `submodules` by their folder, `lfs` whether files are
 * stored in Git LFS.
 */
export type LeftOutContent = { submodules: string[]; lfs: boolean }

const MAX_SUBMODULES = 20

/** Reads the text of `.gitmodules` and `.gitattributes` at the root; null when the clone is complete. */
export function leftOutBy(
  gitmodules: string | undefined,
  gitattributes: string | undefined,
): LeftOutContent | null {
  const submodules = [...(gitmodules ?? '').matchAll(/^[ \t]*path[ \t]*=([^\r\n]{1,300})$/gm)].flatMap(
    ([, value = '']) => /^"?([^"]{1,200})"?$/.exec(value.trim())?.[1] ?? [],
  )
  const lfs = (gitattributes ?? '').split('\n').some(line => /^[^#]*\sfilter=lfs(\s|$)/.test(line))
  return submodules.length === 0 && !lfs ? null : { submodules: submodules.slice(0, MAX_SUBMODULES), lfs }
}

/** Returns a sentence or two for agents and people; the names come from the repository. */
export function leftOutText({ submodules, lfs }: LeftOutContent): string {
  const parts = [
    ...(submodules.length === 0
      ? []
      : [`Its submodules are not checked out (${submodules.join(', ')}): their folders are empty.`]),
    ...(lfs ? ['Files that it keeps by Git LFS are pointers of a few lines, not their content.'] : []),
  ]
  return `${parts.join(' ')} They cannot be fetched here.`
}
