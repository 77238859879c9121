import { useQuery } from '@tanstack/react-query'
import { Plug } from 'lucide-react'
import { forgesQuery } from '../../api/queries.ts'
import { ConnectByToken } from '../../components/forges/connect-token.tsx'
import { CreateApp } from '../../components/forges/create-app.tsx'
import { ForgeItem } from '../../components/forges/forge-item.tsx'
import { Page } from '../../components/page.tsx'
import { PageProblem } from '../../components/page-problem.tsx'
import { useAdminReason } from '../../components/permission.ts'
import { Blank, Loading, Notice } from '../../ui/notice.tsx'

/** The forges that the organization is connected to, and forms to connect one. */
export function IntegrationsPage() {
  const forges = useQuery(forgesQuery)
  const forbidden = useAdminReason('connections')
  if (forges.isError) return <PageProblem error={forges.error} retry={() => forges.refetch()} />
  return (
    <Page
      heading="Integrations"
      width="narrow"
      about="Forges that the organization is connected to: their pull requests are opened there, checks are read from there, and people start and steer runs by writing there."
    >
      <div className="space-y-6">
        {forbidden && <Notice>{forbidden}.</Notice>}
        <section aria-label="Connections">
          {forges.data === undefined && <Loading />}
          {forges.data?.length === 0 && (
            <Blank icon={<Plug />} title="Not connected yet">
              Until a forge is connected, this service hosts pull requests itself.
            </Blank>
          )}
          <ul className="space-y-2">
            {forges.data?.map(connection => (
              <ForgeItem key={connection.id} connection={connection} />
            ))}
          </ul>
        </section>
        {!forbidden && <ConnectForms />}
      </div>
    </Page>
  )
}

const ConnectForms = () => (
  <>
    <section aria-labelledby="by-token">
      <h2 id="by-token" className="mb-2 font-semibold">
        Connect with a token
      </h2>
      <ConnectByToken />
    </section>
    <section aria-labelledby="by-app">
      <h2 id="by-app" className="font-semibold">
        Create a GitHub App
      </h2>
      <p className="mt-1 mb-2 text-muted text-sm">
        GitHub shows the permissions of the app, creates it and returns to this page. The app is then
        connected; its key is stored encrypted and never shown. Install it on the repositories that it needs.
      </p>
      <CreateApp />
    </section>
  </>
)
