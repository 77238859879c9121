import { Button } from '../ui/button.tsx'
import { Blank } from '../ui/notice.tsx'

/**
 * Shown when a part of a page could not be loaded on demand: the service is gone, or was replaced by a
 * version whose files have other names.
 */
export const NotLoaded = () => (
  <Blank title="This view could not be loaded">
    <Button onClick={() => location.reload()}>Reload the page</Button>
  </Blank>
)
