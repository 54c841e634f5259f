# Archival, status, forgetting, export, privacy.

archive-nothing = There's nothing to go through: I've been through everything you said.
archive-started = Going through { $count } { $count ->
    [one] message
   *[other] messages
} now. It usually takes less than a minute; then have a look at /people.
archive-again = Trying again what failed before: { $count }.
archive-reread = Rereading the messages you edited: { $count }.
archive-unpaid = Waiting until my daily budget allows it: { $count }. /status shows how much is spent.
archive-running = There's nothing new, but I'm still going through what you said before.
still-reading = I'm still going through our conversation. Look again in a moment.
not-read-yet = You've told me things that I haven't gone through yet: I do it when our conversation pauses, /archive does it now.
archive-answering = I'm still answering your last message; I'll go through it together with my answer.
archive-dead = I couldn't go through part of our conversation. /status says more, and /archive tries again.
archive-denied = The language model's server refuses my requests, so I can't go through our conversations for now. Nothing is lost: it goes on by itself once the settings are right. /status says more.

status-buffered = { $count ->
    [0] I've been through the whole conversation.
    [one] { $count } message is waiting to be gone through.
   *[other] { $count } messages are waiting to be gone through.
}
status-waiting = Going through right now: { $count }.
status-dead = Couldn't go through: { $count }. /archive tries again; details are in the bot's log.
status-refused = The server refuses to answer with { $model }: { $error }
status-refused-fix = Check `llm.model` or the models under `agents`, and `llm.api_key`. What waits goes on by itself.
status-people = People I know: { $count }.
status-models = { $responder } answers, { $archivist } goes through conversations.
status-offline = The models are built in and work without internet: I answer with what I remember, without eloquence.
status-quarantined = Telegram updates I couldn't read: { $count }.
status-mirror = Changes not yet in the graph mirror: { $count }.
status-spent = Spent today: ${ NUMBER($spent, minimumFractionDigits: 2, maximumFractionDigits: 4) } of ${ NUMBER($limit, minimumFractionDigits: 2, maximumFractionDigits: 2) }.
status-spent-unlimited = Spent today: ${ NUMBER($spent, minimumFractionDigits: 2, maximumFractionDigits: 4) }.

forget-ask = What should I forget? Send a person's name, or press the button to erase everything.
forget-button-everything = Forget everything
forget-person-confirm = Forget { $name }? The profile goes, and every fact, memory, task and note that names this person. { $count ->
    [0] None of our messages is about them.
    [1] One message about them stays in our chat: it can still be found and exported, but I won't quote it. The second button erases it too.
   *[other] { $count } messages about them stay in our chat: they can still be found and exported, but I won't quote them. The second button erases them too.
} Backups may hold it all for { $days } more { $days ->
    [one] day
   *[other] days
}.
forget-button-about = { $count ->
    [1] Yes, and the message
   *[other] Yes, and the messages: { $count }
}
forget-everything-confirm = Erase **everything**: our messages, the people, all I remember? We'd start with a clean slate. Backups may hold it for { $days } more { $days ->
    [one] day
   *[other] days
}.
forget-button-yes = Yes, forget
forget-person-done = Forgetting { $name }. You can still change your mind for { $minutes } { $minutes ->
    [one] minute
   *[other] minutes
}.
forget-person-messages-done = { $count ->
    [1] The message goes too, with everything I know only from it.
   *[other] { $count } messages go too, with everything I know only from them.
}
forget-everything-done = Forgetting everything. You can still change your mind for { $minutes } { $minutes ->
    [one] minute
   *[other] minutes
}.
forget-button-undo = Undo
forget-undone = Undone: everything is back in place.
forget-too-late = It's too late to undo: the time is up.

export-caption = Everything I keep about you, as of { DATETIME($day, dateStyle: "long") }
export-caption-forgetting = What you asked me to forget is still in here: while it can be undone, it isn't erased.
export-caption-people = All people as vCards, for any address book
file-failed = I couldn't send you the file: Telegram didn't take it. Please try again a little later.
file-too-big = The file is too big for Telegram. The person who runs the bot can get it with: laplaced export

privacy =
    __What I keep.__ Our messages, the people and facts from them; your name, @username, language and time zone; a record of what I did and what it cost. And for { $days } { $days ->
        [one] day
       *[other] days
    }, all that I showed the model, with its replies in full.
    __Where.__ In a database on the machine I run on. Its owner could technically look inside; other users of the bot can't.
    __Who else sees it.__ { $transport } { $models }
    __How to delete.__ /forget erases everything, or a person with what I know; the messages about the person stay in our chat unless you erase them too. /export gives you a copy. Backups may hold what was erased for { $held } more { $held ->
        [one] day
       *[other] days
    }.
privacy-telegram = Messages travel through Telegram.
privacy-local = There is no real Telegram here: the chat runs on the same machine.
privacy-offline = The models run on the same machine, and your words go nowhere else.
privacy-provider = To answer, I send the needed part of our conversation and of what I know about people to { $hosts }.

forget-choose = Which of these shall I forget?
forget-nothing = I found nothing to forget by these words: “{ $what }”.
remembered = 📌 I'll keep that: “{ $text }”
claim-undone = (Nothing was changed in your memory or your tasks.)

undo = What changed within a week. A number takes that change back.
undo-nothing = Nothing changed within a week that could be taken back.
undo-done = Taken back. { $what }
undo-too-late = It is too late for that, or something newer rests on it.
undo-fact_learned = I learned: { $what }
undo-fact_corrected = Corrected to: { $what }
undo-fact_ended = No longer holds: { $what }
undo-memory_added = I noted: { $what }
undo-person_added = New person: { $what }
undo-person_edited = Profile edited: { $what }
undo-people_merged = Merged into { $what }
undo-things_merged = Two things became one: { $what }
undo-task_opened = Task: { $what }
undo-task_closed = Task closed: { $what }
undo-task_moved = Moved: { $what }
undo-forgetting = Being forgotten: { $what }
undo-forgotten-everything = everything
undo-forgotten-person = a person
undo-forgotten-entity = a thing
undo-forgotten-fact = a fact
undo-forgotten-memory = a memory
undo-forgotten-episode = a source
undo-forgotten-message = a message
