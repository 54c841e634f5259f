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
