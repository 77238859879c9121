/**
 * Returns the address of a run's page: `web_url` of the run object (specification.md#run-object), and the
 * link in commits and pull requests.
 */
export const traceUrl = (base_url: string, run_id: number) => `${base_url}/agent/trace/${run_id}`

/** Returns the address of one entry on that page. */
export const entryUrl = (base_url: string, run_id: number, seq: number) =>
  `${traceUrl(base_url, run_id)}#e${seq}`
