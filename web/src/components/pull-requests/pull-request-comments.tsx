import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { PullRequestComment } from '../../../../src/contract/pull-requests/pull-request-contents.ts'
import type { RunPullRequest } from '../../../../src/contract/runs/runs.ts'
import { call } from '../../api/client.ts'
import { commentsQuery, meQuery } from '../../api/queries.ts'
import { moment } from '../../text/format.ts'
import { visible } from '../../text/visible.ts'
import { Button } from '../../ui/button.tsx'
import { TextArea } from '../../ui/field.tsx'
import { ApiForm } from '../form/api-form.tsx'
import { useRequest } from '../form/use-request.ts'
import { Markdown } from '../markdown.tsx'
import { useReadOnlyReason } from '../permission.ts'

/** The comments of a pull request, and a box to add one. The run's stream reports new comments of others. */
export function PullRequestComments({ pr }: { pr: RunPullRequest }) {
  const forbidden = useReadOnlyReason()
  const comments = useQuery(commentsQuery(pr.id, pr.updated_at))
  const remove = useRequest(
    (comment_id: number) => call('deletePullRequestComment', { params: { pr_id: pr.id, comment_id } }),
    { settled: [commentsOf(pr.id)] },
  )
  const failure = comments.error ?? remove.error
  return (
    <section aria-label="Comments">
      <h3 className="text-muted text-xs">
        Comments{comments.data && comments.data.length > 0 && ` (${comments.data.length})`}
      </h3>
      {failure && (
        <p role="alert" className="mt-1 text-bad text-xs">
          {visible(failure.message)}
        </p>
      )}
      <ol className="mt-1 space-y-2">
        {comments.data?.map(comment => (
          <Comment
            key={comment.id}
            comment={comment}
            remove={() => remove.mutate(comment.id)}
            busy={remove.isPending}
          />
        ))}
      </ol>
      {forbidden === null && <NewComment pr={pr} />}
    </section>
  )
}

/** All queries of the comments of a pull request. */
const commentsOf = (pr_id: number) => ({ queryKey: ['comments', pr_id] })

const forgeWords = {
  pending: 'not on the forge yet',
  posted: 'also on the forge',
  refused: 'not on the forge',
}

type CommentProps = {
  comment: PullRequestComment
  remove: () => void
  busy: boolean
}

function Comment({ comment, remove, busy }: CommentProps) {
  const mine = useQuery(meQuery).data?.id === comment.user_id
  const [mode, setMode] = useState<'shown' | 'editing' | 'confirming'>('shown')
  const show = () => setMode('shown')
  const { author_name, created_at, updated_at, path, line, body, forge_state, forge_error } = comment
  return (
    <li className="rounded-md border border-line bg-canvas px-2.5 py-1.5 text-sm">
      <div className="flex flex-wrap items-center gap-x-2 text-2xs text-faint">
        <bdi className="font-medium text-ink">{visible(author_name)}</bdi>
        <span>
          {moment(created_at)}
          {updated_at !== created_at && ' · changed'}
          {forge_state !== null && ` · ${forgeWords[forge_state]}`}
        </span>
        {path !== null && (
          <code className="font-mono [overflow-wrap:anywhere]">
            {visible(path)}
            {line !== null && `:${line}`}
          </code>
        )}
        {mine && mode === 'shown' && (
          <span className="ml-auto flex">
            <Button
              variant="quiet"
              aria-label="Edit this comment"
              className="h-6! text-2xs!"
              onClick={() => setMode('editing')}
            >
              Edit
            </Button>
            <Button
              variant="quiet"
              aria-label="Delete this comment"
              className="h-6! text-2xs!"
              onClick={() => setMode('confirming')}
            >
              Delete
            </Button>
          </span>
        )}
        {mine && mode === 'confirming' && (
          <span className="ml-auto flex">
            <Button variant="danger" className="h-6! text-2xs!" busy={busy} onClick={remove}>
              Confirm deletion
            </Button>
            <Button variant="quiet" className="h-6! text-2xs!" onClick={show}>
              Keep it
            </Button>
          </span>
        )}
      </div>
      {mode === 'editing' ? <EditComment comment={comment} on_close={show} /> : <Markdown text={body} />}
      {forge_state === 'refused' && forge_error !== null && (
        <p className="text-bad text-2xs">{visible(forge_error)}</p>
      )}
    </li>
  )
}

type EditProps = { comment: PullRequestComment; on_close: () => void }

function EditComment({ comment, on_close }: EditProps) {
  const [text, setText] = useState(comment.body)
  const save = useRequest(
    () =>
      call('updatePullRequestComment', {
        params: { pr_id: comment.pr_id, comment_id: comment.id },
        body: { body: text },
      }),
    { refresh: [commentsOf(comment.pr_id)], on_done: on_close },
  )
  return (
    <ApiForm
      variant="plain"
      label="Edit comment"
      request={save}
      fields={[]}
      missing={text.trim() === '' || text === comment.body ? 'Change the text first' : null}
      submit="Save"
      note={
        <Button variant="quiet" onClick={on_close}>
          Cancel
        </Button>
      }
    >
      <TextArea
        aria-label="Comment"
        rows={4}
        autoFocus
        value={text}
        onChange={event => setText(event.target.value)}
      />
    </ApiForm>
  )
}

function NewComment({ pr }: { pr: RunPullRequest }) {
  const [text, setText] = useState('')
  const create = useRequest(
    (body: string) => call('createPullRequestComment', { params: { pr_id: pr.id }, body: { body } }),
    { on_done: () => setText(''), settled: [commentsOf(pr.id)] },
  )
  const { origin, host } = new URL(pr.url ?? '', location.href)
  const placeholder = `Comment for people${origin === location.origin ? '' : `, also on ${host}`}. The agent does not see it`
  const reason = text.trim() === '' ? 'Write something first' : null
  const submit = () => {
    if (!reason && !create.isPending) create.mutate(text)
  }
  return (
    <form
      aria-label="Comment"
      className="mt-2"
      onSubmit={event => {
        event.preventDefault()
        submit()
      }}
    >
      <TextArea
        aria-label={placeholder}
        placeholder={placeholder}
        rows={Math.min(8, Math.max(2, text.split('\n').length))}
        value={text}
        className="resize-none"
        onChange={event => setText(event.target.value)}
        onKeyDown={event => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit()
        }}
      />
      <div className="mt-1 flex items-center gap-2">
        {create.isError && (
          <span role="alert" className="text-bad text-xs">
            {visible(create.error.message)}
          </span>
        )}
        <Button type="submit" reason={reason} busy={create.isPending} className="ml-auto">
          Comment
        </Button>
      </div>
    </form>
  )
}
