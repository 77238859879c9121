/** Who reviews the change of a run before people do: rules and then a model, or rules alone. */
export const review_modes = ['model', 'rules'] as const
export type ReviewMode = (typeof review_modes)[number]
