page-context = Context
context-empty = Nothing is kept in mind yet
context-empty-text = After your first conversations the bot notes who you are, what goes on now and what is open. That note stands before every answer.
context-latest = Version { $version }, the latest: it stands before every answer.
context-earlier = Version { $version }, an earlier one.
context-rules = quoted by rules
context-who = Who
context-now = Now
context-threads = Open
context-nothing = Nothing.
context-new = new
context-versions = Versions
context-version = Version { $version }
context-restored = brought back from { $version }
context-items = { $count ->
    [one] { $count } line
   *[other] { $count } lines
}
context-shown = shown
context-look = Look
context-restore = Bring it back
context-restore-title = Bring version { $version } back?
context-restore-text = It becomes the latest, as a new version. Nothing is lost: the one of now stays in the list.
