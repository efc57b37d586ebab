# PowerShell completion for kubespread: kubespread completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName kubespread, kubectl-kubespread -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
        ForEach-Object { if ($_.Value) { $_.Value } else { $_.Extent.Text } })
    # The word being typed goes by a variable: an empty last argument would not arrive.
    $env:_KUBESPREAD_COMPLETE = 'powershell'
    $env:_KUBESPREAD_WORD = "$wordToComplete"
    try {
        $answer = @(& $words[0] @($words | Select-Object -Skip 1) 2>$null)
    } finally {
        Remove-Item Env:_KUBESPREAD_COMPLETE, Env:_KUBESPREAD_WORD
    }
    $answer | Select-Object -Skip 1 | Where-Object { $_ } | ForEach-Object {
        $value, $help = $_ -split "`t", 2
        if (-not $help) { $help = $value }
        [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $help)
    }
    if ($answer.Count -and $answer[0] -match 'files') {
        [System.Management.Automation.CompletionCompleters]::CompleteFilename($wordToComplete)
    }
}
