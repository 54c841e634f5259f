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
