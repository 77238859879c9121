/** How far a heartbeat extends a lease. */
export const LEASE_SECONDS = 5
/** A lease never extends further than this past the deadline: the time that a turn has to end gracefully. */
export const END_SECONDS = 30
