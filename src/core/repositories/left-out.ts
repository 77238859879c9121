/** Parts of a repository that a clone does not bring: `submodules` by their folder, `lfs` whether files are kept by Git LFS. */
export type LeftOut = { submodules: string[]; lfs: boolean }

const MOST = 20

/** By the text of `.gitmodules` and `.gitattributes` at the root; null when the clone brings everything. */
export function leftOutBy(gitmodules: string | undefined, gitattributes: string | undefined): LeftOut | null {
  const submodules = [...(gitmodules ?? '').matchAll(/^[ \t]*path[ \t]*=[ \t]*"?([^"\r\n]{1,200}?)"?[ \t]*$/gm)].map(
    ([, path = '']) => path,
  )
  const lfs = /^[^#\n]*\sfilter=lfs(\s|$)/m.test(gitattributes ?? '')
  return submodules.length === 0 && !lfs ? null : { submodules: submodules.slice(0, MOST), lfs }
}

/** A sentence or two for agents and people; the names are the repository's words. */
export function leftOutText({ submodules, lfs }: LeftOut): string {
  const parts = [
    ...(submodules.length === 0 ? [] : [`Its submodules are not checked out (${submodules.join(', ')}): their folders are empty.`]),
    ...(lfs ? ['Files that it keeps by Git LFS are pointers of a few lines, not their content.'] : []),
  ]
  return `${parts.join(' ')} They cannot be fetched here.`
}
