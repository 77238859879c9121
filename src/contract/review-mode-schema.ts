import { z } from 'zod'
import { review_modes } from './review-modes.ts'

export const ReviewMode = z.enum(review_modes, { error: `must be one of ${review_modes.join(', ')}` })

/** The same in requests; null: the next setting above applies, and at last the service's. */
export const reviewModeInput = ReviewMode.nullish()
