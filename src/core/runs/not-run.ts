/** How the outcome of a tool begins that certainly never was begun. */
export const NOT_RUN = 'Not run: '
