import { KeyRound } from 'lucide-react'
import { useState } from 'react'
import { call } from '../../../api/client.ts'
import { useRequest } from '../../../components/form/use-request.ts'
import { useDialog } from '../../../components/resource-page.tsx'
import { RowMenu } from '../../../components/row-menu.tsx'
import { compact, plural } from '../../../text/format.ts'
import { visible } from '../../../text/visible.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { MenuItem, MenuSeparator } from '../../../ui/menu.tsx'
import { Blank } from '../../../ui/notice.tsx'
import { type Column, Table } from '../../../ui/table.tsx'
import { notify } from '../../../ui/toast.ts'
import { organizationQuery } from '../organization-query.ts'
import { ModelRemoval, TestCall } from './model-dialogs.tsx'
import { ModelForm } from './model-form.tsx'
import { type Model, type ModelSettings, model_queries } from './models-query.ts'

type Props = { settings: ModelSettings; forbidden: string | null }

/** The models that can be called, and the others on request. */
export function ModelTable({ settings: { models, default_model }, forbidden }: Props) {
  const [all, setAll] = useState(false)
  const { dialog, show } = useDialog()
  const usable = models.filter(model => model.usable || model.source === 'organization')
  const hidden = models.length - usable.length
  const rows = all ? models : usable
  const menu: Column<Model> = {
    name: '',
    cell: model => (
      <ModelMenu model={model} is_default={model.id === default_model} forbidden={forbidden} show={show} />
    ),
  }
  return (
    <>
      {rows.length > 0 && (
        <Table
          label="Models"
          columns={[...columns(default_model), menu]}
          rows={rows}
          row_key={({ id }) => id}
        />
      )}
      {rows.length === 0 && (
        <Blank icon={<KeyRound />} title="No model has a key">
          {forbidden === null
            ? 'Set the key of a provider above, or add a model of your own.'
            : 'An administrator can set the key of a provider.'}
        </Blank>
      )}
      {hidden > 0 && (
        <div className="mt-3 flex justify-center">
          <Button onClick={() => setAll(!all)}>
            {all ? 'Hide models without a key' : `Show ${plural(hidden, 'model')} without a key`}
          </Button>
        </div>
      )}
      {dialog}
    </>
  )
}

const columns = (default_model: string): Column<Model>[] => [
  {
    name: 'Model',
    main: true,
    cell: ({ id, label, usable, source }) => (
      <>
        <span className="flex flex-wrap items-center gap-x-2">
          <span className="font-medium">{visible(label)}</span>
          {id === default_model && <Badge tone="accent">Default</Badge>}
          {source === 'organization' && <Badge>Changed here</Badge>}
          {!usable && <Badge tone="warn">No key</Badge>}
        </span>
        <code className="block font-mono text-faint text-xs [overflow-wrap:anywhere]">{visible(id)}</code>
      </>
    ),
  },
  { name: 'Context', align: 'end', wide_only: true, cell: ({ context_tokens }) => count(context_tokens) },
  {
    name: 'Longest response',
    align: 'end',
    wide_only: true,
    cell: ({ max_output_tokens }) => count(max_output_tokens),
  },
  {
    name: 'In, out per million tokens',
    align: 'end',
    wide_only: true,
    cell: ({ price }) =>
      price === null ? (
        <span className="text-faint">unknown</span>
      ) : (
        `$${visible(price.input)}, $${visible(price.output)}`
      ),
  },
]

const count = (tokens: number | null) =>
  tokens === null ? <span className="text-faint">unknown</span> : compact(tokens)

type MenuProps = {
  model: Model
  is_default: boolean
  forbidden: string | null
  show: ReturnType<typeof useDialog>['show']
}

function ModelMenu({ model, is_default, forbidden, show }: MenuProps) {
  const label = visible(model.label)
  const choose = useRequest(() => call('updateOrganization', { body: { default_model: model.id } }), {
    stored: organizationQuery,
    refresh: model_queries,
    done: `${label} is the default now`,
    on_error: error => notify(visible(error.message), 'bad'),
  })
  const unusable = model.usable ? null : 'Its provider has no key'
  const test = (close: () => void) => (
    <Dialog title={`Test ${label}`} on_close={close}>
      <TestCall model={model} />
    </Dialog>
  )
  const edit = (close: () => void) => (
    <Dialog title={`Edit ${label}`} on_close={close}>
      <ModelForm model={model} on_done={close} />
    </Dialog>
  )
  return (
    <RowMenu label={`Actions for ${visible(model.id)}`}>
      <MenuItem reason={forbidden ?? unusable} on_select={() => show(test)}>
        Test call…
      </MenuItem>
      <MenuItem
        reason={forbidden ?? unusable ?? (is_default ? 'It is the default' : null)}
        on_select={() => choose.mutate()}
      >
        Make it the default
      </MenuItem>
      <MenuItem reason={forbidden} on_select={() => show(edit)}>
        Edit…
      </MenuItem>
      {model.source === 'organization' && (
        <>
          <MenuSeparator />
          <MenuItem
            danger
            reason={forbidden}
            on_select={() => show(close => <ModelRemoval model={model} on_close={close} />)}
          >
            Remove…
          </MenuItem>
        </>
      )}
    </RowMenu>
  )
}
