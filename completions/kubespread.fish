# fish completion for kubespread: kubespread completion fish > ~/.config/fish/completions/kubespread.fish
function __kubespread_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct | string unescape)
    set -l answer (_KUBESPREAD_COMPLETE=fish $words "$word" 2>/dev/null </dev/null)
    or return
    string match -rv '^\s*$' -- $answer[2..-1]
    if string match -q '*files*' -- $answer[1]
        # As it is typed, so that fish reads ~ and quotes in it.
        complete -C "'' "(commandline -ct)
    end
end
complete -c kubespread -e
complete -c kubespread -f -a '(__kubespread_complete)'
