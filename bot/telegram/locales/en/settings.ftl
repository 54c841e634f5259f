# Language, time zone, access, menu.

settings =
    Language: { $language }
    Time zone: { $zone }
    Quiet hours: { $quiet }
    What shall we change?
more = What else I can do:

language-ask = Which language shall we use?
language-set = All right, English it is.

zone-ask = What's your time zone? Pick one, or send a city or your location, so that I get "yesterday" and "on Friday" right. For now I have { $zone }.
zone-set = Noted: { $zone }.
zone-unknown = I don't recognise this time zone: “{ $text }”. A city, a name like Europe/London or an offset like UTC+3 will do.
zone-type = Send a city, your location, a name like Europe/London or an offset like UTC+3.
zone-near = Several time zones meet near there. Which one is yours?
zone-button-other = Another…

access-not-owner = Only the bot's owner decides who is let in.
access-members =
    I answer these people:
    { $members }
    To let somebody else in, send a contact, a forwarded message or a numeric Telegram ID.
access-member = • { $name } ({ $id })
access-member-owner = • { $name } ({ $id }) — owner
access-button-remove = Remove { $name }
access-remove-confirm = { $name } won't be able to write to me any more. What I remember for this person stays until it is erased. Remove?
access-button-yes = Yes, remove
access-admitted = Done: { $name } ({ $id }) can write to me now.
access-removed = Done: { $name } can't write to me any more.
access-unreadable = I can't tell from this whom to let in: the author's profile is hidden, or it isn't a numeric ID. Send a contact, a forwarded message or an ID.
refused-owner = The owner can't be removed.
refused-not_owner = Only the bot's owner decides who is let in.

menu-start = Say hello
menu-button = Memory
menu-help = What I can do
menu-people = Everyone I know
menu-person = One person: /person Name
menu-map = Who is who around you: a map
menu-facts = What I know for certain: /facts Name
menu-why = What my answer is based on
menu-asof = How it was then: /asof 2023 question
menu-correct = Correct what an answer is based on
menu-goals = My goals
menu-decisions = My decisions
menu-questions = Open questions
menu-preferences = My likes and dislikes
menu-instructions = What you always keep to
menu-memories = What you remember: /memories words
menu-files = Files you sent
menu-sessions = Our conversations, word for word
menu-db = Start a new conversation: /db question
menu-sa = Continue this conversation: /sa words
menu-ss = Close the conversation
menu-team = Teams: what we promise to do for each other
menu-archive = Go through the conversation now
menu-console = Look at everything in the browser
menu-status = What I'm working on
menu-forget = Forget a person or everything
menu-undo = Take a change back
menu-export = Download everything I keep
menu-settings = What can be set
menu-more = All other commands
menu-language = Language
menu-timezone = Time zone
menu-privacy = What is kept and who sees it
menu-cancel = Skip the question I asked
menu-access = Who is let in

console-link = Your console, a page in the browser. The link works once, within { $minutes } minutes, and shows only what is yours — don't share it:
console-off = The console is switched off (console.enabled).

called = I'll call you { $name } from now on.
called-undone = All right, { $name } again.
