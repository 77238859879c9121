import { neutralMentions } from '../../core/forges/neutral-mentions.ts'
import { readFilesAt } from '../../git/read/read-files.ts'
import type { Base } from '../base/base.ts'
import type { WorkerDeps } from '../settings.ts'

/** Where forges look for it, the most particular first. */
const PLACES = ['.github', '.gitea', '.forgejo', '', 'docs'].flatMap(folder =>
  ['pull_request_template.md', 'PULL_REQUEST_TEMPLATE.md'].map(name => (folder === '' ? name : `${folder}/${name}`)),
)
const GITLAB = '.gitlab/merge_request_templates/Default.md'
const BYTES = 16 * 1024

/** What the repository asks of a pull request's words, as of the commit that the run started from: not what its agent made of that. Nobody is mentioned in it. */
export async function readTemplate(deps: WorkerDeps, base: Base): Promise<string | null> {
  const paths = [...PLACES, GITLAB]
  const found = await readFilesAt(deps.git, base.repository.id, base.sha, paths, BYTES)
  const path = paths.find(place => found.has(place))
  const bytes = path === undefined ? undefined : found.get(path)?.bytes
  return bytes === undefined ? null : neutralMentions(new TextDecoder('utf-8', { fatal: false }).decode(bytes).replaceAll('\0', ''))
}
