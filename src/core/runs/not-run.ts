/** The prefix of the outcome of a tool that certainly never started. */
export const NOT_RUN = 'Not run: '
