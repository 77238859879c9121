import { ApiForm, TextField } from '../form/api-form.tsx'
import { useForm } from '../form/use-form.ts'
import type { EgressTarget, Rule } from './egress-target.ts'

const empty = { host: '', port: '', methods: '' }

/** What was typed as a rule. The service reports what is wrong with it. */
const ruleOf = ({ host, port, methods }: typeof empty): Rule => ({
  host: host.trim(),
  port: port === '' ? null : Number(port),
  methods:
    methods.trim() === ''
      ? null
      : (methods
          .toUpperCase()
          .split(/[\s,]+/)
          .filter(Boolean) as Rule['methods']),
})

const repository_off = 'If agents have no network, this permits them the allowed hosts.'
const organization_off = 'It applies to repositories whose agents may reach allowed hosts.'

/** Allows one more host. */
export function AllowHost({ target: { saved, inherited, allow } }: { target: EgressTarget }) {
  const { draft, field, props } = useForm({
    saved: empty,
    send: typed => allow(ruleOf(typed)),
    // The organization's rules are sent as a whole: then the error names the field inside them.
    wire: {
      host: ['host', 'agent.allow.host'],
      port: ['port', 'agent.allow.port'],
      methods: ['methods', 'agent.allow.methods'],
    },
    done: 'Allowed',
  })
  const off = (saved.agent.mode ?? inherited?.agent.mode) !== 'allowlist'
  return (
    <ApiForm
      {...props}
      variant="plain"
      label="Allow a host"
      missing={draft.host.trim() === '' ? 'Enter a host first' : null}
      submit="Allow host"
      note={
        off && <span className="text-faint text-xs">{inherited ? repository_off : organization_off}</span>
      }
    >
      <div className="grid gap-3 sm:grid-cols-[minmax(0,1fr)_8rem_14rem]">
        <TextField
          {...field('host')}
          label="Host"
          hint="Or *.example.com for all names below it."
          placeholder="docs.example.com"
          mono
        />
        <TextField {...field('port')} label="Port" hint="Empty: 443 and 80." type="number" />
        <TextField
          {...field('methods')}
          label="Methods"
          hint="Of plain HTTP. Empty: all."
          placeholder="GET, HEAD"
          mono
        />
      </div>
    </ApiForm>
  )
}
