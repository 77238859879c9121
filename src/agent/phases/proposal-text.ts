import { neutralMentions } from '../../core/forges/neutral-mentions.ts'
import { fillTemplate } from '../../core/pull-requests/pull-request-template.ts'

/**
 * Title and description of a run's pull request, where it came from, and the message of its commit. None of
 * them mentions anybody.
 */
export type Proposal = { title: string; description: string; origin: string; commit_message: string }

const SUBJECT_CHARS = 72

/**
 * Returns the title, body and commit message of a pull request. They notify nobody: mentions in what the
 * agent wrote are neutralized.
 */
export function proposal(run: {
  title: string
  answer: string
  web_url: string
  scripted: boolean
  trailer: string
}): Proposal {
  const title = neutralMentions(run.title.replace(/\s+/g, ' ').trim())
  const answer = neutralMentions(run.answer)
  const by = run.scripted
    ? 'Created by a scripted playbook, without a language model'
    : 'Created by an agent run'
  return {
    title,
    description: answer.trim(),
    origin: `${by}: ${run.web_url}`,
    commit_message: `${subject(title)}\n\n${wrap(answer)}\n\n${run.trailer}: ${run.web_url}\n`,
  }
}

const RULE = '\n\n---\n'

/** Returns the body of a pull request in the repository's template; `template` null: it has none. */
export const bodyOf = ({ description, origin }: Proposal, template: string | null): string =>
  `${template === null ? description : fillTemplate(template, description)}\n\n---\n${origin}`

export const withoutOrigin = (body: string): string =>
  body.slice(0, body.includes(RULE) ? body.lastIndexOf(RULE) : body.length)

function subject(title: string): string {
  if (title.length <= SUBJECT_CHARS) return title
  const cut = title.slice(0, SUBJECT_CHARS - 1)
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), 20)).toWellFormed()}…`
}

/** At most the first paragraph's worth of the answer, broken at 72 characters. */
function wrap(answer: string): string {
  const lines: string[] = []
  for (const word of (answer.trim().split(/\n[^\S\n]*\n/)[0] ?? '')
    .slice(0, 1_000)
    .toWellFormed()
    .split(/\s+/)) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= SUBJECT_CHARS)
      lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines.join('\n')
}
