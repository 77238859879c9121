import { readdirSync, readFileSync } from 'node:fs'

/** Live processes of sandboxes of this data folder: those whose mounts show one of its workspaces. */
export function sandboxProcesses(data_dir: string): number[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(Number)
    .filter(pid => {
      const mounts = read(`/proc/${pid}/mountinfo`)
      return (
        mounts.includes(`${data_dir}/workspaces/`) && /^State:\s+[^ZX]/m.test(read(`/proc/${pid}/status`))
      )
    })
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
