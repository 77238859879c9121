/**
 * Gitea and Forgejo have no drafts: a pull request is one while its title begins with a word that the server is set to, `WIP:` or `[WIP]`
 * unless somebody changed it. Older versions do not even say so. Here a title has no such word, and the state says it.
 */
const MARK = 'WIP: '
const KNOWN = /^\s*(?:(?:\[(?:wip|draft)\]|(?:wip|draft):)\s*)+/i

export const plainTitle = (title: string): string => title.replace(KNOWN, '')
export const isMarked = (title: string): boolean => KNOWN.test(title)
export const markedTitle = (title: string, draft: boolean): string => `${draft ? MARK : ''}${plainTitle(title)}`
