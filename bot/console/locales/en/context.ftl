page-context = Context
context-empty = Nothing noted yet
context-empty-text = After your first conversations the bot notes who you are, what is going on now and what is still open. It reads this note before every answer.
context-latest = Version { $version }, the latest: the bot reads it before every answer.
context-earlier = Version { $version }, an earlier one.
context-rules = taken word for word, by rules
context-who = About you
context-now = Now
context-threads = Still open
context-nothing = Nothing.
context-new = new
context-versions = Versions
context-version = Version { $version }
context-restored = restored from version { $version }
context-items = { $count ->
    [one] { $count } line
   *[other] { $count } lines
}
context-shown = shown
context-look = View
context-restore = Restore
context-restore-title = Restore version { $version }?
context-restore-text = It becomes the latest, as a new version. Nothing is lost: the current one stays in the list.
