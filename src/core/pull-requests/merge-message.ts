type Merge = {
  method: 'merge' | 'squash'
  title: string
  body: string
  head_branch: string
  base_branch: string
  trailer: string
  /** Null: its run was deleted. */
  run_url: string | null
}

/**
 * Returns the message of the commit that merges a pull request. The number is omitted: a remote forge would
 * take it for one of its own.
 */
export function mergeMessage({
  method,
  title,
  body,
  head_branch,
  base_branch,
  trailer,
  run_url,
}: Merge): string {
  const text =
    method === 'squash'
      ? [title.trim(), body.trim()]
      : [`Merge branch '${head_branch}' into ${base_branch}`, title.trim()]
  return `${[...text, run_url === null ? '' : `${trailer}: ${run_url}`].filter(part => part !== '').join('\n\n')}\n`
}
