import { AllowHost } from './allow-host.tsx'
import { EgressForm } from './egress-form.tsx'
import type { EgressTarget } from './egress-target.ts'
import { HostTable } from './host-table.tsx'

/** The network access of a repository or of the organization: modes, package registries and allowed hosts. */
export const EgressSettings = ({ target }: { target: EgressTarget }) => (
  <div className="max-w-4xl space-y-10">
    <section aria-labelledby="network-access">
      <h2 id="network-access" className="mb-4 font-semibold">
        Access
      </h2>
      <EgressForm target={target} />
    </section>
    <section aria-labelledby="network-hosts" className="space-y-4">
      <div>
        <h2 id="network-hosts" className="font-semibold">
          Allowed hosts
        </h2>
        <p className="mt-1 max-w-prose text-muted">
          Active runs apply a change within seconds. A request that was refused is an entry of the trace,
          which also offers to allow its host.
        </p>
      </div>
      <HostTable target={target} />
      {target.forbidden === null && <AllowHost target={target} />}
    </section>
  </div>
)
