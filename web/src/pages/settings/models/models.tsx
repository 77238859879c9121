import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { Page } from '../../../components/page.tsx'
import { PageProblem } from '../../../components/page-problem.tsx'
import { useAdminReason } from '../../../components/permission.ts'
import { Button } from '../../../ui/button.tsx'
import { Loading } from '../../../ui/notice.tsx'
import { type ModelAct, ModelDialogs } from './model-dialogs.tsx'
import { ModelTable } from './model-table.tsx'
import { modelSettingsQuery } from './models-query.ts'
import { Providers } from './providers.tsx'

/** Keys of providers, and the models that runs can name. */
export function ModelsPage() {
  const settings = useQuery(modelSettingsQuery)
  const forbidden = useAdminReason('models')
  const [act, setAct] = useState<ModelAct | null>(null)
  if (settings.isError)
    return <PageProblem error={settings.error} retry={() => settings.refetch()} what="list" />
  const { data } = settings
  return (
    <Page
      heading="Models and keys"
      about="Changes apply to the runs of this organization, from their next turn on, without a restart. Keys are stored encrypted and never shown."
      actions={
        <Button variant="primary" reason={forbidden} onClick={() => setAct({ kind: 'add' })}>
          <Plus aria-hidden className="size-4" /> Add model
        </Button>
      }
    >
      {!data && <Loading label="Loading the models" />}
      {data && (
        <div className="space-y-6">
          <div>
            <h2 className="mb-2 font-semibold">Keys of providers</h2>
            <Providers providers={data.providers} forbidden={forbidden} />
          </div>
          <div>
            <h2 className="mb-2 font-semibold">Models</h2>
            <ModelTable settings={data} forbidden={forbidden} on_act={setAct} />
          </div>
        </div>
      )}
      {act && <ModelDialogs act={act} on_close={() => setAct(null)} />}
    </Page>
  )
}
