import type { ViewJson } from "../render/redact.ts";
import type { View } from "../render/view.ts";
import { type OptionSpec, GLOBAL } from "./options.ts";
import { type CommandSpec, type OptionsOf, COMMANDS } from "./table.ts";

/** `tasc commands`: the table of commands, for programs that call them. */
export async function commands(): Promise<View> {
  const all = COMMANDS.flatMap((spec) => withChildren(spec, ""));
  const headings = ["command", "what it does"];
  const rows = all.map(({ name, summary }) => [name, summary]);
  const json = { options: Object.values(GLOBAL).map(optionJson), commands: all.map(commandJson) };
  return { json, text: [[{ headings, rows }]] };
}

function withChildren(spec: CommandSpec, above: string): readonly CommandSpec[] {
  const { commands } = spec;
  const name = `${above}${spec.name}`;
  return commands === undefined
    ? [{ ...spec, name }]
    : commands.flatMap((one) => withChildren(one, `${name} `));
}

function commandJson({ name, summary, args = [], options = [], examples }: CommandSpec): ViewJson {
  return {
    name,
    summary,
    arguments: args.map(({ flags, description, choices }) => ({
      name: flags,
      description,
      choices,
      required: flags.startsWith("<"),
    })),
    options: options.map(optionJson),
    examples: Object.entries(examples).map(([command, does]) => ({ command, does })),
  };
}

function optionJson({ flags, description, choices, repeatable }: OptionSpec): ViewJson {
  return { flags, description, choices, repeatable: repeatable ?? false };
}

/** `tasc completion bash|zsh|fish`: prints a script for the shell. */
export async function completion({ shell }: OptionsOf<"completion">): Promise<View> {
  return { json: { shell, script: SCRIPTS[shell] }, text: [[{ lines: SCRIPTS[shell] }]] };
}

/*
 * The scripts know nothing of the commands: each hands the line up to the cursor to the hidden `tasc __complete`, so
 * that they stay right when tasc is updated.
 */

/** Works with bash 3.2, which macOS has: no mapfile, and no need of the package bash-completion. */
const BASH = `# bash completion for tasc
_tasc() {
  local current=\${COMP_WORDS[COMP_CWORD]} line
  local words=("\${COMP_WORDS[@]:1:COMP_CWORD-1}")
  # bash makes a word of the sign in --stage=dev.
  if [[ $current == "=" ]]; then
    words+=("=")
    current=
  fi
  current=\${current#[\\"\\']}
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :files) compopt -o filenames 2>/dev/null; _tasc_paths -f "$current"; return ;;
      :dirs) compopt -o filenames 2>/dev/null; _tasc_paths -d "$current"; return ;;
      *) COMPREPLY+=("\${line%%$'\\t'*}") ;;
    esac
  done < <("$1" __complete "\${words[@]}" "$current" 2>/dev/null)
}
_tasc_paths() {
  local path
  while IFS= read -r path; do COMPREPLY+=("$path"); done < <(compgen "$1" -- "$2")
}
complete -F _tasc tasc
`;

const ZSH = `#compdef tasc
# zsh completion for tasc
_tasc() {
  local line
  local -a found candidates
  found=("\${(@f)$("$words[1]" __complete "\${(@)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}")
  case $found[1] in
    :files) _files; return ;;
    :dirs) _files -/; return ;;
  esac
  for line in $found; do
    if [[ $line == *$'\\t'* ]]; then
      candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
    else
      candidates+=("\${line//:/\\\\:}")
    fi
  done
  _describe tasc candidates
}
if [[ $funcstack[1] == _tasc ]]; then
  _tasc "$@"
else
  compdef _tasc tasc
fi
`;

const FISH = `# fish completion for tasc
function __tasc_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l found ($words[1] __complete $words[2..-1] "$current" 2>/dev/null)
    switch "$found[1]"
        case ''
            return
        case :files
            __fish_complete_path "$current"
        case :dirs
            __fish_complete_directories "$current"
        case '*'
            printf '%s\\n' $found
    end
end
complete -c tasc -f -a '(__tasc_complete)'
`;

const SCRIPTS: Readonly<Record<OptionsOf<"completion">["shell"], string>> = {
  bash: BASH,
  zsh: ZSH,
  fish: FISH,
};
