page-facts = Facts
records-cancel = Cancel
records-save = Save
facts-search = Search facts
facts-which = Which facts
facts-current = True now
facts-ended = No longer true
facts-all = All versions
facts-count = { $count ->
    [one] { $count } fact, newest first
   *[other] { $count } facts, newest first
}
facts-found = { $count ->
    [one] { $count } fact found, best match first
   *[other] { $count } facts found, best match first
}
facts-empty = No facts here
facts-empty-text = The bot finds facts in your conversations once it has processed them. Talk with it, or choose another list above.
fact-replaced = old version
fact-until = until { $day }
fact-corrected = corrected
fact-source-count = { $count ->
    [0] no source
    [one] { $count } source
   *[other] { $count } sources
}
fact-sources = Where it was said
fact-no-sources = Set by hand: no message says this.
fact-open = Open
fact-history = History
fact-why = Reason: { $reason }
fact-correct = Correct
fact-correct-title = Correct this fact
fact-correct-text = The old version stays in the history. Models never change what you set yourself.
fact-words = What is true
fact-reason = Why (saved with the fact)
fact-corrected-now = Corrected
