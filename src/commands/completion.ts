import { EXIT, type ExitCode } from "../model/error.ts";
import type { Context } from "./context.ts";
import type { OptionsOf, Shell } from "./table.ts";

/** `tasc completion bash|zsh|fish`: prints a script for the shell. */
export async function run(
  { shell, format }: OptionsOf<"completion">,
  { console }: Context,
): Promise<ExitCode> {
  console.show({ json: { shell, script: SCRIPTS[shell] }, text: [[{ lines: SCRIPTS[shell] }]] }, format);
  return EXIT.done;
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

const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
