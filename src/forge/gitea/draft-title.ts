/**
 * A pull request on Gitea and Forgejo is a draft while its title begins with a configured word, `WIP:` or
 * `[WIP]` by default. Older versions do not report drafts. Here a title has no such word, and the state shows
 * it.
 */
const MARK = 'WIP: '
const KNOWN = /^\s*(?:(?:\[(?:wip|draft)\]|(?:wip|draft):)\s*)+/i

export const plainTitle = (title: string): string => title.replace(KNOWN, '')
export const isMarked = (title: string): boolean => KNOWN.test(title)
export const markedTitle = (title: string, draft: boolean): string =>
  `${draft ? MARK : ''}${plainTitle(title)}`
