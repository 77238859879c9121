import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

/** One entry of docs/decisions/<topic>.md. `slug` is the anchor that GitHub gives its heading. */
export type Decision = {
  topic: string
  title: string
  slug: string
  status: 'accepted' | 'superseded'
  date: string
}

export const INDEX_FILE = new URL('../docs/decisions.md', import.meta.url)
const TOPICS_FOLDER = new URL('../docs/decisions/', import.meta.url)
const INDEX_HEADING = '## Index\n'
const STATUS_LINE =
  /^(?:(Accepted)|Superseded by \[[a-z0-9-]+\]\([a-z-]*(?:\.md)?#[a-z0-9-]+\)) · (\d{4}-\d\d-\d\d)$/

/** The files of docs/decisions/, by topic. */
export function decisionFiles(): { topic: string; text: string }[] {
  return readdirSync(TOPICS_FOLDER)
    .toSorted()
    .map(name => ({
      topic: name.replace(/\.md$/, ''),
      text: readFileSync(new URL(name, TOPICS_FOLDER), 'utf8'),
    }))
}

/** The entries of one topic. Throws for an entry without a line that gives its status and date. */
export function decisionsIn({ topic, text }: { topic: string; text: string }): Decision[] {
  return text
    .split(/^## /m)
    .slice(1)
    .map(entry => {
      const [title = '', , statusLine = ''] = entry.split('\n')
      const status = STATUS_LINE.exec(statusLine)
      if (!status)
        throw new Error(
          `docs/decisions/${topic}.md, "${title}": the third line must be "Accepted · YYYY-MM-DD" or "Superseded by [slug](…) · YYYY-MM-DD".`,
        )
      return {
        topic,
        title,
        slug: slugOf(title),
        status: status[1] ? 'accepted' : 'superseded',
        date: status[2] ?? '',
      }
    })
}

function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')
}

/** The text of docs/decisions.md: what is written there above the index, and the index of all entries. */
export function decisionIndex(): string {
  const [introduction = ''] = readFileSync(INDEX_FILE, 'utf8').split(INDEX_HEADING)
  const topics = decisionFiles().map(file => {
    const [heading = ''] = file.text.split('\n')
    const lines = decisionsIn(file).map(
      ({ topic, title, slug, status, date }) =>
        `- [${title}](decisions/${topic}.md#${slug}) · ${status} · ${date}`,
    )
    return `### ${heading.replace('# ', '')}\n\n${lines.join('\n')}\n`
  })
  return `${introduction}${INDEX_HEADING}\n${topics.join('\n')}`
}

if (import.meta.main) writeFileSync(INDEX_FILE, decisionIndex())
