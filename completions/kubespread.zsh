#compdef kubespread kubectl-kubespread
# zsh completion for kubespread: kubespread completion zsh > a folder of $fpath, as _kubespread
_kubespread() {
    local answer todo line help
    local -a lines described
    # The words as the program would get them: without quotes, the one being typed last.
    answer=$(_KUBESPREAD_COMPLETE=zsh "${(Q)words[1]}" "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null </dev/null) || return
    lines=("${(@f)answer}")
    todo=$lines[1]
    for line in "${(@)lines[2,-1]}"; do
        [[ -n $line ]] || continue
        # What has no help would be followed by a dash for it.
        help=${line#*$'\t'}
        described+=("${${line%%$'\t'*}//:/\\:}${help:+:$help}")
    done
    (( $#described )) && _describe -V -t values value described
    if [[ $todo == *files* ]]; then
        [[ $PREFIX == --*=* ]] && compset -P '*='
        _files
    fi
}
if [[ $funcstack[1] == _kubespread ]]; then
    _kubespread "$@"
else
    compdef _kubespread kubespread kubectl-kubespread
fi
