import { everyGuarantee } from '../every-guarantee.ts'

await everyGuarantee('docker', 'in a container of Docker')
