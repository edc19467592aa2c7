# bash completion for tasc
_tasc() {
  local current=${COMP_WORDS[COMP_CWORD]} line
  local words=("${COMP_WORDS[@]:1:COMP_CWORD-1}")
  # bash makes a word of the sign in --stage=dev.
  if [[ $current == "=" ]]; then
    words+=("=")
    current=
  fi
  current=${current#[\"\']}
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :files) compopt -o filenames 2>/dev/null; _tasc_paths -f "$current"; return ;;
      :dirs) compopt -o filenames 2>/dev/null; _tasc_paths -d "$current"; return ;;
      *) COMPREPLY+=("${line%%$'\t'*}") ;;
    esac
  done < <("$1" __complete "${words[@]}" "$current" 2>/dev/null)
}
_tasc_paths() {
  local path
  while IFS= read -r path; do COMPREPLY+=("$path"); done < <(compgen "$1" -- "$2")
}
complete -F _tasc tasc
