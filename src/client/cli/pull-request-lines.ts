import type { Result } from '../sdk/operations.ts'
import { firstLine, plainText } from './plain-text.ts'

type PullRequest = Result<'getPullRequest'>
type Commit = Result<'listPullRequestCommits'>['items'][number]
type Comment = Result<'createPullRequestComment'>

/** Returns what a person looks for in a pull request, its text last. */
export function pullRequestLines(pr: PullRequest): string[] {
  const { id, number, title, state, head_branch, base_branch, head_sha, mergeable, url, body, agent_run_id } =
    pr
  return [
    `${id} (#${number}) ${firstLine(title, 200)}`,
    `state    ${state}${state === 'open' && mergeable !== 'unknown' ? `, ${mergeable === 'clean' ? 'can be merged' : 'conflicts'}` : ''}`,
    `branch   ${plainText(head_branch)} into ${plainText(base_branch)}`,
    `commit   ${head_sha}`,
    `change   ${pr.files_changed} files, +${pr.additions} -${pr.deletions}`,
    ...(agent_run_id === null ? [] : [`run      ${agent_run_id}`]),
    `address  ${plainText(url)}`,
    ...(body === '' ? [] : ['', ...plainText(body).split('\n')]),
  ]
}

export const commitLines = ({ sha, author_name, committed_at, message }: Commit): string[] => [
  `${sha.slice(0, 12)}  ${committed_at ?? '-'}  ${firstLine(author_name, 60)}  ${firstLine(message, 200)}`,
]

/** Returns a comment as lines: who wrote it when and where, then its text without control characters. */
export function commentLines({ id, author_name, created_at, path, line, body }: Comment): string[] {
  const location = path === null ? '' : `  ${firstLine(path, 200)}${line === null ? '' : `:${line}`}`
  return [
    `${id}  ${created_at}  ${firstLine(author_name, 60)}${location}`,
    ...plainText(body)
      .split('\n')
      .map(text => `    ${text}`),
  ]
}
