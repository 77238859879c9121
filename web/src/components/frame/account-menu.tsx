import { useNavigate } from '@tanstack/react-router'
import { Keyboard, LogOut, UserRound } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Menu, MenuChoice, MenuItem, MenuLabel, MenuSeparator } from '../../ui/menu.tsx'
import { chooseTheme, chosenTheme, isTheme, themes } from '../theme.ts'
import { useSignOut } from './use-sign-out.ts'

const theme_names = { system: 'System', light: 'Light', dark: 'Dark' } as const

type Props = { on_keys: () => void; className: string; children: ReactNode }

/** Profile, theme, keyboard shortcuts and sign-out. */
export default function AccountMenu({ on_keys, className, children }: Props) {
  const signOut = useSignOut()
  const navigate = useNavigate()
  return (
    <Menu label="Account" className={className} trigger={children} at_once>
      <MenuLabel>Theme</MenuLabel>
      <ThemeChoice />
      <MenuSeparator />
      <MenuItem icon={<UserRound />} on_select={() => navigate({ to: '/settings/profile' })}>
        Your profile
      </MenuItem>
      <MenuItem icon={<Keyboard />} on_select={on_keys}>
        Keyboard shortcuts
      </MenuItem>
      <MenuItem icon={<LogOut />} on_select={signOut}>
        Sign out
      </MenuItem>
    </Menu>
  )
}

function ThemeChoice() {
  const [theme, setTheme] = useState(chosenTheme)
  return (
    <MenuChoice
      value={theme}
      options={themes.map(value => ({ value, text: theme_names[value] }))}
      on_choose={value => {
        if (!isTheme(value)) return
        setTheme(value)
        chooseTheme(value)
      }}
    />
  )
}
