page-today = Today
today-which = Days
today-today = Today
today-week = Week
today-empty = Nothing is planned
today-empty-text = Tasks, birthdays, promises and whom to call appear here by themselves, from what you tell the bot.
today-occasions = Occasions
today-tasks = To do
today-promises = You promised
today-waiting = You wait for
today-contacts = Be in touch
today-questions = Open questions
today-years = { $years ->
    [one] { $years } year
   *[other] { $years } years
}
today-reflections = What showed lately
today-dismiss = Dismiss
today-met = { $subject }: in touch on { $count } days of the last 30.
today-quiet = { $subject }: no contact mentioned in the last 30 days. In the two months before there were { $count } days.
today-matter = { $count } people spoke of “{ $subject }”: { $names }.
today-change = It changed: { $subject }. Before: { $before }.
today-new = New in what you tell: { $subject }, on { $count } days.
