/**
 * Headings that a description belongs under. This file reads pull request templates of repositories and finds
 * what a body leaves empty.
 */
const DESCRIPTION = /\b(?:summary|description|what|changes?|overview|purpose|about)\b/i
const HEADING = /^(#{1,6}) +(\S.*)$/
const COMMENT = /<!--[\s\S]*?(?:-->|$)/g

type Section = { heading: string | null; lines: string[] }

/**
 * Returns the template with the description inserted below the first matching heading, or above everything.
 * Comments are hints for the author and are removed; other sections stay, so that a person sees that they are
 * empty.
 */
export function fillTemplate(template: string, description: string): string {
  const sections = sectionsOf(template.replaceAll(COMMENT, ''))
  const section = sections.find(({ heading }) => heading !== null && DESCRIPTION.test(heading))
  if (section)
    section.lines = ['', description.trim(), '', ...section.lines.filter(line => line.trim() !== '')]
  else sections.unshift({ heading: null, lines: [description.trim(), ''] })
  const text = sections
    .map(({ heading, lines }) => [...(heading === null ? [] : [heading]), ...lines].join('\n'))
    .join('\n')
  return text.replaceAll(/\n{3,}/g, '\n\n').trim()
}

/**
 * Returns the headings of the template that have no text in the body, including those that the body lacks.
 */
export function unanswered(template: string, body: string): string[] {
  const answered = new Map(
    sectionsOf(body.replaceAll(COMMENT, '')).map(({ heading, lines }) => [heading, lines.some(isAnswer)]),
  )
  return sectionsOf(template.replaceAll(COMMENT, '')).flatMap(({ heading, lines }, i, all) => {
    if (heading === null || answered.get(heading)) return []
    // A title over other headings requests nothing itself.
    const level = depth(heading)
    const next = all[i + 1]?.heading
    return next != null && depth(next) > level && !lines.some(isAnswer)
      ? []
      : [heading.replace(HEADING, '$2')]
  })
}

/** An unticked box, a rule and an empty bullet are not text. */
const isAnswer = (line: string) => !/^\s*(?:[-*+]\s*(?:\[ \].*)?|[-*_]{3,}|)$/.test(line)
const depth = (heading: string) => HEADING.exec(heading)?.[1]?.length ?? 1

function sectionsOf(text: string): Section[] {
  const sections: Section[] = [{ heading: null, lines: [] }]
  let fenced = false
  for (const line of text.split(/\r?\n/)) {
    if (/^\s*(?:```|~~~)/.test(line)) fenced = !fenced
    if (!fenced && HEADING.test(line)) sections.push({ heading: line.trim(), lines: [] })
    else sections.at(-1)?.lines.push(line)
  }
  return sections.filter(({ heading, lines }) => heading !== null || lines.some(line => line.trim() !== ''))
}
