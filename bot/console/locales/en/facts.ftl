page-facts = Facts
records-cancel = Cancel
records-save = Save
facts-search = Search the facts
facts-which = Which facts
facts-current = Hold now
facts-ended = Have ended
facts-all = Every version
facts-count = { $count ->
    [one] { $count } fact, what was learned last comes first
   *[other] { $count } facts, what was learned last comes first
}
facts-found = { $count ->
    [one] { $count } fact found, the best first
   *[other] { $count } facts found, the best first
}
facts-empty = No facts here
facts-empty-text = Facts are found in what you tell the bot, once a conversation has been gone through. Talk with it, or choose another list above.
fact-replaced = old version
fact-until = until { $day }
fact-corrected = corrected
fact-receipts = { $count ->
    [0] no receipt
    [one] { $count } receipt
   *[other] { $count } receipts
}
fact-heard = Where it was heard
fact-unheard = Nobody said it in so many words: it was set by its owner.
fact-open = Open
fact-history = History
fact-why = Why: { $reason }
fact-correct = Correct
fact-correct-title = Correct this fact
fact-correct-text = The old version stays in the history. No model changes what you set yourself.
fact-words = What is true
fact-reason = Why (kept with it)
fact-corrected-now = Corrected
