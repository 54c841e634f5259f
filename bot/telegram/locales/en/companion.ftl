# Occasions, the day, keeping in touch.

occasion-week = 📅 { $when }: { $what }.
occasion-day = 🎉 Today: { $what }.
occasion-day-memorial = 🕯 Today: { $what }.
occasion-years = { $what }, { $years ->
    [one] { $years } year
   *[other] { $years } years
}
occasion-likes = What I know of tastes: { $list }.
occasion-gifts = You told me of presents: { $list }.
birthdays-title = Birthdays and other occasions of the year ahead:
birthdays-none = I know of no birthdays yet. Mention one in passing, for example “Masha's birthday is on 5 May”.
birthdays-button-file = As a file
birthdays-button-link = Calendar link
birthdays-button-revoke = Close the link
birthdays-caption = Birthdays and other occasions, for any calendar.
birthdays-link = Subscribe to this address in your calendar. It is secret: whoever has it can read these days. A new link closes the one before.

    { $url }
birthdays-revoked = The link is closed.
menu-birthdays = Birthdays and other occasions
nudge = 💬 It may be time: { $title }.
nudge-person = 💬 It may be time: { $title }. For example, { $name }.
nudge-last = Last time { $when }: “{ $quote }”.
nudge-open = Still open: { $list }.
rhythm-button = Keep in touch
rhythm-ask = How often do you want to be in touch with { $name }? I will remind you gently, and not if you tell me that you met or talked.
rhythm-week = Every week
rhythm-fortnight = Every two weeks
rhythm-month = Every month
rhythm-title = Be in touch: { $name }
agenda-today = **Today, { $day }**
agenda-week = **The week from { $day }**
agenda-nothing = Nothing is planned. A free day!
agenda-tasks = To do
agenda-occasions = Occasions
agenda-promises = You promised
agenda-waiting = You wait for
agenda-contacts = Be in touch
agenda-questions = Open questions
brief-button = Before you meet: { $name }
brief-ask = Whom are you going to meet? Send a name, for example /brief Anna.
brief-about = **{ $name }** · { $circle }, in memory since { $since }
brief-facts = What I know
brief-people = People around
brief-talks = You told me lately
brief-open = Still open
brief-occasions = Occasions
brief-questions = What to ask
brief-ask-waiting = You still wait for this: { $what }
brief-ask-occasion = How was it: { $what }, { $when }?
brief-ask-talk = What came of it: “{ $what }” ({ $when })?
brief-receipts = The numbers open the sources.
digest-set = Good: an overview of the day every morning at { $at }. /digest off ends it.
digest-off = No more morning overviews.
digest-ask = Morning overview: { $at } (another hour: /digest 8:30)
digest-none = off
menu-today = What today holds
menu-week = What the week holds
menu-brief = What to know before meeting somebody: /brief Anna
menu-digest = An overview every morning
brief-button-unnamed = Before you meet
reflections-title = What showed lately
reflections-way-out = /week off: not on Sundays any more.
reflections-off = I will not tell you on Sundays what showed. /week on brings it back, /week shows it when you ask.
reflections-on = On Sundays I will tell you what showed in the last weeks. /week off ends it.
reflections-dismissed = Dismissed
reflections-none = Nothing else shows now.
reflection-met = { $subject }: in touch on { $count } days of the last 30.
reflection-quiet = { $subject }: you last mentioned being in touch on { $last }. In the two months before there were { $count } days.
reflection-matter = { $count } people spoke of “{ $subject }”: { $names }.
reflection-change = It changed: { $subject }. Before: { $before }.
reflection-new = New in what you tell: { $subject }, on { $count } days.
