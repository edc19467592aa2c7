# fish completion for tasc
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
            printf '%s\n' $found
    end
end
complete -c tasc -f -a '(__tasc_complete)'
