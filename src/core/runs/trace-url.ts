/** The address of a run's page: `web_url` of the run object (specification.md#run-object), and what a commit and a pull request link to. */
export const traceUrl = (base_url: string, run_id: number) => `${base_url}/agent/trace/${run_id}`

/** The place of one entry on it. */
export const entryUrl = (base_url: string, run_id: number, seq: number) => `${traceUrl(base_url, run_id)}#e${seq}`
