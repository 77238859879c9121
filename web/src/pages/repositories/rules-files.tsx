import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { currentOrganizationQuery, organizationsQuery } from '../../api/queries.ts'
import { PageProblem } from '../../components/page-problem.tsx'
import { PlainText } from '../../components/plain-text.tsx'
import { ago, plural } from '../../text/format.ts'
import { visible } from '../../text/visible.ts'
import { isObject, objectsAt, textAt } from '../../trace/fields.ts'
import { Loading, Notice } from '../../ui/notice.tsx'
import { useNow } from '../../ui/now.ts'
import { agentRulesQuery, rulesFilesQuery } from './repository-queries.ts'

/**
 * The rules for agents: what the latest run read from the repository, and the rules of organization and
 * person.
 */
export function RulesFiles({ repo_id }: { repo_id: number }) {
  const found = useQuery(rulesFilesQuery(repo_id))
  const rules = useQuery(agentRulesQuery).data
  const current = useQuery(currentOrganizationQuery).data
  const organization = useQuery(organizationsQuery).data?.items.find(({ id }) => id === current)
  const off = organization?.settings.enable_rules_detection === false
  return (
    <section aria-labelledby="rules" className="min-w-0 space-y-4">
      <h2 id="rules" className="font-semibold">
        Rules for agents
      </h2>
      {off && <Notice tone="warn">Rules files are disabled in the settings of the organization.</Notice>}
      {found.isPending && <Loading label="Loading the rules" />}
      {found.isError && <PageProblem error={found.error} retry={() => found.refetch()} what="text" />}
      {found.data === null && (
        <p className="text-muted">
          None of the latest runs found rules files. An agent reads{' '}
          <code className="font-mono text-xs">AGENTS.md</code> and similar files at the commit where its run
          starts.
        </p>
      )}
      {found.data && <Found {...found.data} />}
      {rules?.organization_rules && (
        <RulesText
          title="Rules of the organization"
          about={
            <Link to="/settings" className="text-accent underline">
              Change them in the settings
            </Link>
          }
          text={rules.organization_rules}
        />
      )}
      {rules?.user_custom_prompt && (
        <RulesText
          title="Your instructions"
          about="Agents of your runs get them."
          text={rules.user_custom_prompt}
        />
      )}
    </section>
  )
}

function Found({
  run,
  entry,
}: {
  run: { id: number }
  entry: { tool_input: unknown; tool_output: unknown; created_at: string }
}) {
  const now = useNow(true, 60_000)
  const output = entry.tool_output
  const files = objectsAt(output, 'files')
  const cut = files.filter(({ truncated }) => truncated === true).map(file => textAt(file, 'path') ?? '')
  const more = [
    [listAt(output, 'rules').length, 'rule'],
    [listAt(output, 'skills').length, 'skill'],
    [listAt(output, 'folders').length, 'folder with rules of its own', 'folders with rules of their own'],
  ] as const
  const notes = listAt(output, 'notes').filter(note => typeof note === 'string')
  return (
    <RulesText
      title="From the repository"
      about={
        <>
          Read {ago(entry.created_at, now)} by{' '}
          <Link to="/agent/trace/$id" params={{ id: String(run.id) }} className="text-accent underline">
            run #{run.id}
          </Link>{' '}
          at commit{' '}
          <code className="font-mono">{visible((textAt(entry.tool_input, 'sha') ?? '').slice(0, 8))}</code>
          {more
            .filter(([count]) => count > 0)
            .map(([count, one, many]) => `, with ${plural(count, one, many)}`)}
          .{cut.length > 0 && ` Truncated: ${visible(cut.join(', '))}.`}
        </>
      }
      text={textAt(output, 'content') ?? ''}
      notes={notes}
    />
  )
}

const listAt = (value: unknown, key: string): unknown[] =>
  isObject(value) && Array.isArray(value[key]) ? value[key] : []

function RulesText({
  title,
  about,
  text,
  notes = [],
}: {
  title: string
  about: ReactNode
  text: string
  notes?: string[]
}) {
  return (
    <div>
      <h3 className="font-medium">{title}</h3>
      <p className="mb-1.5 text-muted text-xs">{about}</p>
      {text !== '' && (
        <section
          aria-label={title}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keyboard
          tabIndex={0}
          className="max-h-80 overflow-y-auto rounded-lg border border-line bg-sunken px-3 py-2"
        >
          <PlainText text={text} className="font-mono text-xs" />
        </section>
      )}
      {notes.map(note => (
        <p key={note} className="mt-1 text-warn text-xs">
          {visible(note)}
        </p>
      ))}
    </div>
  )
}
