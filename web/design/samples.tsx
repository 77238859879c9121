import { Archive, Download, GitPullRequest, MoreHorizontal, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { AgentRunError } from '../../src/client/sdk/error.ts'
import { ApiForm, TextField } from '../src/components/form/api-form.tsx'
import { ConfirmDialog } from '../src/components/form/confirm-dialog.tsx'
import { PageProblem } from '../src/components/page-problem.tsx'
import { Badge, type BadgeTone } from '../src/ui/badge.tsx'
import { Button } from '../src/ui/button.tsx'
import { CopyButton } from '../src/ui/copy-button.tsx'
import { Dialog } from '../src/ui/dialog.tsx'
import { Field, Input, Select, Switch, TextArea } from '../src/ui/field.tsx'
import { IconButton } from '../src/ui/icon-button.tsx'
import { Key } from '../src/ui/key.tsx'
import { Menu, MenuChoice, MenuItem, MenuLabel, MenuSeparator } from '../src/ui/menu.tsx'
import { Blank, Loading, Notice } from '../src/ui/notice.tsx'
import { Table } from '../src/ui/table.tsx'
import { notify } from '../src/ui/toast.ts'

const nothing = () => {}
const tones: [BadgeTone, string][] = [
  ['neutral', 'queued'],
  ['accent', 'running'],
  ['ok', 'completed'],
  ['warn', 'waiting'],
  ['paused', 'paused'],
  ['bad', 'failed'],
]

export const Controls = () => (
  <div className="space-y-3">
    <div className="flex flex-wrap items-center gap-2">
      <Button variant="primary">
        <Plus aria-hidden className="size-4" /> Primary
      </Button>
      <Button>Plain</Button>
      <Button variant="quiet">Quiet</Button>
      <Button variant="danger">Dangerous</Button>
      <Button variant="primary" reason="Your role, READER, can view runs but not change them">
        Forbidden
      </Button>
      <Button busy>Busy</Button>
      <IconButton label="Download">
        <Download className="size-4" />
      </IconButton>
      <CopyButton label="Copy" text={() => 'copied'} />
      <Key>Ctrl+K</Key>
    </div>
    <div className="flex flex-wrap gap-2">
      {tones.map(([tone, text]) => (
        <Badge key={tone} tone={tone}>
          {text}
        </Badge>
      ))}
    </div>
  </div>
)

const refused = new AgentRunError({
  status: 422,
  code: 'validation_failed',
  detail: 'The request is not valid.',
  errors: [{ loc: ['body', 'url'], msg: 'must be an https or ssh address', type: 'value_error' }],
})

export function Forms() {
  const [name, setName] = useState('nightly')
  const [url, setUrl] = useState('ftp://example.org')
  const [on, setOn] = useState(true)
  return (
    <div className="grid gap-8 sm:grid-cols-2">
      <ApiForm
        label="A refused form"
        request={{ isPending: false, error: refused, mutate: nothing }}
        fields={['url']}
        submit="Save"
      >
        <TextField label="Name" hint="What it is for." value={name} on_change={setName} />
        <TextField
          label="Address"
          problem="must be an https or ssh address"
          mono
          value={url}
          on_change={setUrl}
        />
        <Field label="Role">
          {props => (
            <Select {...props} defaultValue="member">
              <option>member</option>
              <option>admin</option>
            </Select>
          )}
        </Field>
        <Switch
          label="Open a pull request with the change"
          checked={on}
          onChange={event => setOn(event.target.checked)}
        />
      </ApiForm>
      <ApiForm
        variant="plain"
        label="A forbidden form"
        request={{ isPending: false, error: null, mutate: nothing }}
        fields={[]}
        forbidden="Your role, READER, may not change this"
        submit="Save"
      >
        <Field label="Rules">
          {props => <TextArea {...props} rows={4} defaultValue="Every change has a test." />}
        </Field>
        <Field label="Limit">{props => <Input {...props} type="number" placeholder="no limit" />}</Field>
      </ApiForm>
    </div>
  )
}

export const Feedback = () => (
  <div className="space-y-2">
    <Notice>The token is shown once. Copy it now.</Notice>
    <Notice tone="warn">One check is still running.</Notice>
    <Notice tone="bad" action={<Button>Try again</Button>}>
      The webhook responded with 500.
    </Notice>
    <div className="flex gap-2 pt-1">
      <Button onClick={() => notify('Saved')}>Show a message</Button>
      <Button onClick={() => notify('The run could not be stopped: it has ended.', 'bad')}>
        Show a failure
      </Button>
    </div>
  </div>
)

const unreachable = new AgentRunError({
  status: 0,
  code: 'unreachable',
  detail: 'The service does not respond. It may be stopped.',
})
const forbidden = new AgentRunError({
  status: 403,
  code: 'forbidden',
  detail: 'Your role, READER, may not read the audit log.',
})

export const States = () => (
  <div className="grid gap-3 sm:grid-cols-2 [&>div]:rounded-lg [&>div]:border [&>div]:border-line [&>div]:bg-surface">
    <div>
      <Loading label="Loading runs" />
    </div>
    <div>
      <Blank icon={<GitPullRequest />} title="No pull requests yet">
        A run that changes files opens a pull request with its change.
      </Blank>
    </div>
    <div>
      <PageProblem error={unreachable} retry={nothing} what="list" />
    </div>
    <div>
      <PageProblem error={forbidden} />
    </div>
    <div>
      <PageProblem error={new Error('The response is not JSON.')} what="list" />
    </div>
  </div>
)

const repositories = [
  { id: 1, name: 'acme/shop', runs: 1204, state: 'Configured' },
  { id: 2, name: 'acme/infrastructure', runs: 37, state: 'None' },
]

export const Lists = () => (
  <Table
    label="Sample repositories"
    columns={[
      { name: 'Repository', main: true, cell: ({ name }) => <span className="font-medium">{name}</span> },
      { name: 'Setup', cell: ({ state }) => state, wide_only: true },
      { name: 'Runs', align: 'end', cell: ({ runs }) => runs.toLocaleString('en') },
      {
        name: '',
        cell: () => (
          <Menu
            label="Actions"
            align="end"
            trigger={<MoreHorizontal aria-hidden className="size-4" />}
            className="rounded-md p-1.5 hover:bg-hover"
          >
            <MenuItem icon={<Archive />} on_select={nothing}>
              Archive
            </MenuItem>
            <MenuItem icon={<Trash2 />} danger reason="Only an ADMIN may delete it" on_select={nothing}>
              Delete
            </MenuItem>
          </Menu>
        ),
      },
    ]}
    rows={repositories}
    row_key={({ id }) => id}
  />
)

export function Overlays() {
  const [open, setOpen] = useState<'none' | 'dialog' | 'confirm'>('none')
  const [order, setOrder] = useState('new')
  const close = () => setOpen('none')
  return (
    <div className="flex flex-wrap gap-2">
      <Button onClick={() => setOpen('dialog')}>Dialog</Button>
      <Button variant="danger" onClick={() => setOpen('confirm')}>
        Delete repository
      </Button>
      <Menu
        label="Order"
        trigger="Order"
        className="h-7 rounded-md border border-line bg-surface px-2.5 font-medium hover:bg-hover"
      >
        <MenuLabel>Order</MenuLabel>
        <MenuChoice
          value={order}
          options={[
            { value: 'new', text: 'Newest first' },
            { value: 'old', text: 'Oldest first' },
          ]}
          on_choose={setOrder}
        />
        <MenuSeparator />
        <MenuItem on_select={nothing}>Save this view</MenuItem>
      </Menu>
      <Button hint="A hint explains an icon or a short word">Hint</Button>
      {open === 'dialog' && (
        <Dialog title="Dialog" on_close={close}>
          A dialog has a title, and one task.
        </Dialog>
      )}
      {open === 'confirm' && (
        <ConfirmDialog
          title="Delete repository"
          action="Delete repository"
          typed_name="acme/shop"
          send={async () => {}}
          on_close={close}
        >
          Its runs and their traces are deleted. This cannot be undone.
        </ConfirmDialog>
      )}
    </div>
  )
}
