# Facts: lists, a fact opened, its sources, questions about the past, corrections, contradictions.

facts-title-own = **About you** — { $count } { $count ->
    [one] fact
   *[other] facts
}
facts-title-own-past = **About you, as it used to be** — { $count } { $count ->
    [one] fact
   *[other] facts
}
facts-title = **{ $name }** — { $count } { $count ->
    [one] fact
   *[other] facts
}
facts-title-past = **{ $name }, as it used to be** — { $count } { $count ->
    [one] fact
   *[other] facts
}
about-owner-people = People in your life:
about-owner-said = **In your own words**
facts-none-own =
    I don't know anything definite about you yet.
    Just go on telling me; “/facts Name” shows what I know about somebody or something else.
facts-none = { $name }: no facts yet.
facts-unknown = I don't know anyone or anything called “{ $name }”.
facts-found = I don't know anyone or anything called “{ $name }”. But this is what I found:
facts-choose = “{ $name }” could mean several things. Which one?
facts-kind = { $kind ->
    [person] person
    [organization] organisation
    [place] place
    [tool] thing
    [Preference] preference
    [Topic] topic
   *[other] concept
}
facts-button-past = As it used to be: { $count }
facts-button-current = What is true now: { $count }
facts-button-person = Facts

when-since = since { $since }
when-since-until = { $since } – { $until }
when-said = said { $since }
when-said-until = said { $since }, true until { $until }
when-open = start date unknown
when-open-until = until { $until }

fact-owners-word = You set this yourself.
fact-disputed = Another fact contradicts this: it's for you to decide.
fact-replaced = This is an earlier version; another replaced it ({ DATETIME($at, dateStyle: "long") }).
fact-withdrawn = This is no longer considered true ({ DATETIME($at, dateStyle: "long") }).
fact-before = It used to say: “{ $text }”
fact-reason = Why it was changed: { $reason }
fact-sources = __Where it comes from__
fact-sources-all = __Where it comes from, in order__
fact-sources-before = __Where the earlier version comes from__
fact-sources-none = No message says this.
fact-sources-more = …and { $count } more.
source-quote = “{ $text }”
source-own = your words, { DATETIME($at, dateStyle: "long") }
source-sent = in what you sent, { DATETIME($at, dateStyle: "long") }
source-assistant = my answer, { DATETIME($at, dateStyle: "long") }
source-speaker = { $speaker }, { DATETIME($at, dateStyle: "long") }
source-forward = forwarded from { $from }, { DATETIME($at, dateStyle: "long") }
source-speaker-forward = { $speaker }, forwarded from { $from }, { DATETIME($at, dateStyle: "long") }
source-text = { DATETIME($at, dateStyle: "long") }
source-open = open
fact-button-look = Open
fact-versions = __How it changed__
version-recorded = recorded { DATETIME($at, dateStyle: "long") }
version-owners = corrected by you, { DATETIME($at, dateStyle: "long") }
fact-button-correct = Correct
fact-button-forget = Forget
fact-button-sources = All sources: { $count }
fact-button-versions = Versions: { $count }
fact-button-newest = To the current version
fact-button-open = Open { $n }

forget-fact-confirm = Forget this? “{ $text }” The fact is deleted with all its versions; the messages stay in our chat.
forget-fact-done = Forgetting: “{ $text }”. You can still change your mind for { $minutes } { $minutes ->
    [one] minute
   *[other] minutes
}.
forget-fact-remaining = { $count ->
    [one] This sentence comes from the same message. Decide whether it says the same; it won't be removed on its own:
   *[other] These sentences come from the same message. Decide whether they say the same; they won't be removed on their own:
}
forget-fact-left = { $name }: “{ $text }”
forget-button-sentence = Remove { $n }
forget-sentence-done = Removed for good.
forget-button-messages = { $count ->
    [1] Forget the message too
   *[other] Forget the messages too: { $count }
}
forget-messages-done = { $count ->
    [1] I'm forgetting your message too, with everything I know only from it.
   *[other] I'm forgetting your { $count } messages too, with everything I know only from them.
}
forget-messages-late = The fact is erased already, and I no longer know which messages said it.

said-button-forget = Forget { $n }
forget-said-confirm = Forget this message? “{ $text }” Everything I know only from it is forgotten too.
forget-said-done = Forgetting this message. You can still change your mind for { $minutes } { $minutes ->
    [one] minute
   *[other] minutes
}.

correct-ask =
    How should it be? Put it in one sentence.
    Now: “{ $text }”
    To leave it unchanged: /cancel.
correct-sure =
    { $how ->
        [denied] Shall I drop this for good?
        [ended] Shall I note that this is over?
       *[changed] Shall I change this?
    }
    Now: “{ $old }”
    You say: “{ $new }”
correct-button-yes = Yes
correct-button-no = No
correct-button-undo = Undo
correct-undone = Undone: it is as it was.
correct-lapsed = I no longer have your sentence, so I changed nothing just now. This is how it stands:
correct-news = That's about something else, so no fact changes. I take it as news.
correct-done = Corrected. You set this yourself now, so it won't change on its own.
correct-same = That's what it says already; nothing to change.
correct-ended = Noted: that's no longer so.
correct-denied = Removed: I no longer believe that.
correct-choose = What should be corrected?
correct-nothing = This answer isn't based on any fact, so there's nothing to correct. /facts shows what I know.
refused-empty_fact = Write at least one word.
refused-too_long = That's too long for one fact. Could you make it shorter?

why-title = **What this answer is based on**
why-uncited = It doesn't cite anything directly. I had this at hand:
why-given = Also at hand:
why-people = People I had in mind: { $names }
why-gone = this fact is gone
why-none = I used no memory for this answer, only our conversation itself.
why-no-answer = There's nothing to explain yet: I haven't answered anything.
why-not-answer = That isn't an answer to a question. Reply with /why to an answer of mine and I'll show where I got it from.

asof-usage =
    Ask about another time: the date first, then the question.
    /asof May 2023 where does Kate work?
    /asof last summer who does Tom live with?
asof-unreadable =
    I can't tell which time you mean: “{ $text }”.
    A year, a month, a date will do, or words like “last summer” or “two years ago”. For example: /asof May 2023 where does Kate work?
asof-ask = { $period }. What would you like to know about that time?
asof-future = That time is still ahead: { $period }. I only remember what has been.
asof-nothing = { $period }: I don't know anything about that.
asof-title = **{ $period }**
asof-rests = __What was true then__
asof-without-words = I couldn't write an answer just now, but this was true then:
period-moment = { DATETIME($first, dateStyle: "long", timeStyle: "short") }
period-day = { DATETIME($first, dateStyle: "long") }
period-span = { DATETIME($first, dateStyle: "long") } – { DATETIME($last, dateStyle: "long") }

contradiction-ask = These contradict each other. Which is true?
contradiction-button-both = { $count ->
    [2] Both are true
   *[other] All are true
}
contradiction-button-neither = { $count ->
    [2] Neither
   *[other] None is true
}
contradiction-one = All right, this is true: { $fact }.
contradiction-both = All right, I'll keep both.
contradiction-neither = All right, I won't rely on that any more.
contradiction-gone = This question is no longer needed: something changed in the meantime.

join-choose = What is { $name } really? Write the name of the thing it's the same as.
join-which = Several things could be “{ $name }”. Which one?
join-unknown = I don't know anything of that kind called “{ $name }”.
join-confirm = Merge them? { $source } becomes part of { $target }: everything known about both is combined, and the name { $target } stays.
join-done = Done: { $source } and { $target } are now one.
join-undone = Separate again.

audience-button = For whom
audience-rules = By the rules
audience-private = Only me
audience-team = My team
audience-ask = “{ $text }”: for whom is it? Now: { $now }
audience-kept = Kept.
