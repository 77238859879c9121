import { useAdminReason } from '../../../components/permission.ts'
import { AddButton, QueryPage } from '../../../components/resource-page.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { ModelForm } from './model-form.tsx'
import { ModelTable } from './model-table.tsx'
import { modelSettingsQuery } from './models-query.ts'
import { Providers } from './providers.tsx'

/** Keys of providers, and the models that runs can name. */
export function ModelsPage() {
  const forbidden = useAdminReason('models')
  return (
    <QueryPage
      query={modelSettingsQuery}
      what="list"
      heading="Models and keys"
      about="Changes apply to the runs of this organization, from their next turn on, without a restart. Keys are stored encrypted and never shown."
      actions={
        <AddButton
          text="Add model"
          reason={forbidden}
          dialog={close => (
            <Dialog title="Add model" on_close={close}>
              <ModelForm model={null} on_done={close} />
            </Dialog>
          )}
        />
      }
      loading="Loading the models"
    >
      {settings => (
        <div className="space-y-6">
          <div>
            <h2 className="mb-2 font-semibold">Keys of providers</h2>
            <Providers providers={settings.providers} forbidden={forbidden} />
          </div>
          <div>
            <h2 className="mb-2 font-semibold">Models</h2>
            <ModelTable settings={settings} forbidden={forbidden} />
          </div>
        </div>
      )}
    </QueryPage>
  )
}
