import { Outlet } from '@tanstack/react-router'
import { settingsSections } from '../../components/frame/settings-sections.ts'
import { SectionList } from '../../ui/section-nav.tsx'

/** The side navigation of the settings, beside one of their pages. */
export function SettingsPage() {
  return (
    <div className="flex h-full min-h-0 flex-col md:flex-row">
      <SectionList label="Settings" groups={settingsSections} />
      <div className="min-h-0 min-w-0 flex-1">
        <Outlet />
      </div>
    </div>
  )
}
