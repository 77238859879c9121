type Days = { from?: string | undefined; to?: string | undefined }

/**
 * Returns the filter of the API for a first and a last day, `YYYY-MM-DD`. A day begins and ends in the time
 * zone of the reader.
 */
export const createdWithin = ({ from, to }: Days) => ({
  created_after: from && new Date(startOf(from).getTime() - 1).toISOString(),
  created_before: to && startOf(to, 1).toISOString(),
})

function startOf(day: string, later_days = 0): Date {
  const date = new Date(`${day}T00:00:00`)
  date.setDate(date.getDate() + later_days)
  return date
}
