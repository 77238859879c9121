import { useQuery } from '@tanstack/react-query'
import { Plug } from 'lucide-react'
import { forgesQuery } from '../api/queries.ts'
import { ConnectByToken } from '../components/forges/connect-token.tsx'
import { CreateApp } from '../components/forges/create-app.tsx'
import { ForgeItem } from '../components/forges/forge-item.tsx'
import { PageProblem } from '../components/page-problem.tsx'
import { useAdminReason } from '../components/permission.ts'
import { Blank, Loading, Notice } from '../ui/notice.tsx'

/** Where pull requests are made: what the organization is connected to, and how to connect it. */
export function ForgesPage() {
  const forges = useQuery(forgesQuery)
  const forbidden = useAdminReason()
  if (forges.isError) return <PageProblem error={forges.error} retry={() => forges.refetch()} />
  return (
    <div className="h-full overflow-y-auto">
      <title>Forges · Agent runs</title>
      <div className="mx-auto max-w-3xl space-y-6 px-4 pt-5 pb-10">
        <header>
          <h1 className="font-semibold text-xl tracking-tight">Forges</h1>
          <p className="mt-1 text-muted text-sm">
            Repositories at an address that is connected get their pull requests there, their checks are read there, and people start and
            steer runs by writing there.
          </p>
        </header>
        {forbidden && <Notice>{forbidden}.</Notice>}
        <section aria-label="Connections">
          {forges.data === undefined && <Loading />}
          {forges.data?.length === 0 && (
            <Blank icon={<Plug />} title="Not connected yet">
              This service keeps pull requests itself until a forge is connected.
            </Blank>
          )}
          <ul className="space-y-2">
            {forges.data?.map(connection => (
              <ForgeItem key={connection.id} connection={connection} />
            ))}
          </ul>
        </section>
        <section aria-labelledby="by-token">
          <h2 id="by-token" className="mb-2 font-semibold">
            Connect by a token
          </h2>
          <ConnectByToken />
        </section>
        <section aria-labelledby="by-app">
          <h2 id="by-app" className="font-semibold">
            Make a GitHub App
          </h2>
          <p className="mt-1 mb-2 text-muted text-sm">
            GitHub shows what it may do, makes it and leads back: then it is connected, with a key that nobody has seen, and is to be
            installed on the repositories it is for.
          </p>
          <CreateApp />
        </section>
      </div>
    </div>
  )
}
