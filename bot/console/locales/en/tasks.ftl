page-tasks = Tasks
tasks-empty = No tasks
tasks-empty-text = Add a task above, or tell the bot “remind me on Friday at six to…”. It also notices promises you make in passing and asks about them here.
tasks-add = New task
tasks-proposed = To confirm
tasks-late = Overdue
tasks-today = Today
tasks-later = Later
tasks-someday = No date
tasks-more = Show more: { $count }
tasks-closed = Closed
tasks-none-closed = Nothing closed yet
tasks-none-closed-text = Done and cancelled tasks appear here, and can be opened again.
task-title = What to do
task-kind = Kind
task-task = Task
task-reminder = Reminder
task-waiting = Waiting for somebody
task-contact = Keeping in touch
task-promise = Promise
moment-day = Day
moment-calendar = Open the calendar
moment-none = No date
moment-time = Time
moment-mistyped = The time is not complete. Write it as 18:30.
task-repeat = Repeat
task-add = Add
task-untitled = Enter what to do.
task-undated = no date
task-reminds-at = reminder { $at }
task-done = done { $at }
task-cancelled = cancelled { $at }
task-changed = Saved
task-do-confirm = Yes, add: { $title }
task-do-decline = No, remove: { $title }
task-do-done = Done: { $title }
task-do-snooze = Put off: { $title }
task-do-cancel = Cancel: { $title }
task-do-open = Open again: { $title }
repeat-never = never
snooze-hour = In an hour ({ $at })
snooze-evening = This evening ({ $at })
snooze-tomorrow = Tomorrow ({ $at })
snooze-week = In a week ({ $at })
snooze-choose = Choose a time…
snooze-title = Remind me later
tasks-done = Done
tasks-cancelled = Cancelled
repeat-hourly = { $count ->
    [one] every hour
   *[other] every { $count } hours
}
repeat-daily = { $count ->
    [one] every day
   *[other] every { $count } days
}
repeat-weekly = { $count ->
    [one] every week
   *[other] every { $count } weeks
}
repeat-monthly = { $count ->
    [one] every month
   *[other] every { $count } months
}
repeat-yearly = { $count ->
    [one] every year
   *[other] every { $count } years
}
repeat-workdays = on weekdays
repeat-weekends = at weekends
repeat-on = every { $days }
repeat-and = and
repeat-weekday = { $day ->
    [0] Monday
    [1] Tuesday
    [2] Wednesday
    [3] Thursday
    [4] Friday
    [5] Saturday
   *[6] Sunday
}
