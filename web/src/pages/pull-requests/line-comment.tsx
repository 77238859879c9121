import type { PullRequest } from '../../../../src/contract/pull-requests/pull-requests.ts'
import { call } from '../../api/client.ts'
import { ApiForm } from '../../components/form/api-form.tsx'
import { useRequest } from '../../components/form/use-request.ts'
import { visible } from '../../text/visible.ts'
import { type DiffTarget, followUpAbout } from '../../trace/changes/diff-target.ts'
import { Button } from '../../ui/button.tsx'
import { useDraft } from '../../ui/draft.ts'
import { TextArea } from '../../ui/field.tsx'

type Props = { pull_request: PullRequest; target: DiffTarget; on_close: () => void }

/** A comment on a line or a file of a pull request: a follow-up for the agent, or a comment for people. */
export function LineComment({ pull_request: { id, agent_run_id }, target, on_close }: Props) {
  const { path, line } = target
  const where = line === null ? 'the file' : `line ${line.number}`
  const draft = useDraft(`comment ${id} ${path} ${line?.side} ${line?.number}`, stored =>
    typeof stored === 'string' ? stored : '',
  )
  const text = draft.value
  const on_done = () => {
    draft.drop()
    on_close()
  }
  const prompt = followUpAbout(target, text)
  const follow_up = useRequest(
    () => call('resumeAgentRun', { body: { agent_run_id: agent_run_id ?? 0, prompt } }),
    { done: run => `Sent to run #${run.id}`, on_done },
  )
  const comment = useRequest(
    () =>
      call('createPullRequestComment', {
        params: { pr_id: id },
        body: { body: text, path, ...(line !== null && { line: line.number, side: line.side }) },
      }),
    { done: 'Commented', on_done, settled: [{ queryKey: ['comments', id] }] },
  )
  const empty = text.trim() === '' ? 'Write something first' : null
  const request = { ...follow_up, error: follow_up.error ?? comment.error, mutate: () => follow_up.mutate() }
  return (
    <div className="border-line border-y bg-surface px-3 py-2 font-sans">
      <ApiForm
        label={`Comment on ${visible(path)}${line === null ? '' : `, line ${line.number}`}`}
        request={request}
        fields={[]}
        missing={agent_run_id === null ? 'The run was deleted, or removed from this pull request' : empty}
        submit="Send to the agent"
        note={
          <>
            <Button reason={empty} busy={comment.isPending} onClick={() => comment.mutate()}>
              Comment for people
            </Button>
            <Button variant="quiet" onClick={on_close}>
              Cancel
            </Button>
          </>
        }
      >
        <TextArea
          aria-label={`About ${where}`}
          placeholder={`What should change in ${where}?`}
          rows={3}
          autoFocus
          value={text}
          onChange={event => draft.set(() => event.target.value)}
        />
      </ApiForm>
    </div>
  )
}
