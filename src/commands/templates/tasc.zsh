#compdef tasc
# zsh completion for tasc
_tasc() {
  local line
  local -a found candidates
  found=("${(@f)$("$words[1]" __complete "${(@)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}")
  case $found[1] in
    :files) _files; return ;;
    :dirs) _files -/; return ;;
  esac
  for line in $found; do
    if [[ $line == *$'\t'* ]]; then
      candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    else
      candidates+=("${line//:/\\:}")
    fi
  done
  _describe tasc candidates
}
if [[ $funcstack[1] == _tasc ]]; then
  _tasc "$@"
else
  compdef _tasc tasc
fi
