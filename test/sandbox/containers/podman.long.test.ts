import { everyGuarantee } from '../every-guarantee.ts'

await everyGuarantee('podman', 'in a container of Podman')
