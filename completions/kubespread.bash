# bash completion for kubespread:
#   kubespread completion bash > ~/.local/share/bash-completion/completions/kubespread
_kubespread_complete() {
    local answer todo word typed program=$1
    # An alias is no program: complete -F _kubespread_complete ks
    type -P "$program" >/dev/null || program=kubespread
    answer=$(_KUBESPREAD_COMPLETE=bash _KUBESPREAD_LINE="${COMP_LINE:0:COMP_POINT}" \
        _KUBESPREAD_WORD="${COMP_WORDS[COMP_CWORD]}" "$program" 2>/dev/null </dev/null) || return
    todo=${answer%%$'\n'*}
    COMPREPLY=()
    if [[ $answer == *$'\n'* ]]; then
        mapfile -t COMPREPLY <<<"${answer#*$'\n'}"
    fi
    if [[ $todo == *files* ]]; then
        compopt -o filenames
        typed=${COMP_WORDS[COMP_CWORD]}
        [[ $typed == [=:] ]] && typed=
        while IFS= read -r word; do
            COMPREPLY+=("$word")
        done < <(compgen -f -- "$typed")
    fi
}
complete -F _kubespread_complete kubespread kubectl-kubespread
