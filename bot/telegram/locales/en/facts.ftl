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
facts-button-current = What holds now: { $count }
facts-button-person = Facts

when-since = since { DATETIME($since, dateStyle: "long") }
when-since-until = { DATETIME($since, dateStyle: "long") } – { DATETIME($until, dateStyle: "long") }
when-said = told { DATETIME($since, dateStyle: "long") }
when-said-until = told { DATETIME($since, dateStyle: "long") }, held until { DATETIME($until, dateStyle: "long") }
when-open = since when, unknown
when-open-until = until { DATETIME($until, dateStyle: "long") }

fact-owners-word = This is your own word.
fact-disputed = Another fact contradicts this: it's for you to decide.
fact-replaced = This is an earlier version; another took its place ({ DATETIME($at, dateStyle: "long") }).
fact-withdrawn = This doesn't count as true any more ({ DATETIME($at, dateStyle: "long") }).
fact-before = It used to say: “{ $text }”
fact-reason = Why it was changed: { $reason }
fact-sources = __Where it comes from__
fact-sources-all = __Where it comes from, in order__
fact-sources-none = There are no messages behind this.
fact-sources-more = …and { $count } more.
source-quote = “{ $text }”
source-own = your words, { DATETIME($at, dateStyle: "long") }
source-assistant = my answer, { DATETIME($at, dateStyle: "long") }
source-speaker = { $speaker }, { DATETIME($at, dateStyle: "long") }
source-forward = forwarded from { $from }, { DATETIME($at, dateStyle: "long") }
source-speaker-forward = { $speaker }, forwarded from { $from }, { DATETIME($at, dateStyle: "long") }
source-text = { DATETIME($at, dateStyle: "long") }
source-open = open
fact-button-look = Open
fact-versions = __How it changed__
version-recorded = noted { DATETIME($at, dateStyle: "long") }
version-owners = corrected by you, { DATETIME($at, dateStyle: "long") }
fact-button-correct = Correct
fact-button-forget = Forget
fact-button-sources = All sources: { $count }
fact-button-versions = Versions: { $count }
fact-button-newest = To the current version
fact-button-open = Open { $n }

forget-fact-confirm = Forget this? “{ $text }” The fact goes with all its versions; the messages stay in our chat.
forget-fact-done = Forgetting: “{ $text }”. You can still change your mind for { $minutes } { $minutes ->
    [one] minute
   *[other] minutes
}.
forget-fact-remaining = { $count ->
    [one] This sentence comes from the same message. Whether it says the same is for you to decide; it won't go by itself:
   *[other] These sentences come from the same message. Whether they say the same is for you to decide; they won't go by themselves:
}
forget-fact-left = { $name }: “{ $text }”
forget-button-sentence = Drop { $n }
forget-sentence-done = Dropped for good.
forget-button-messages = { $count ->
    [1] Forget the message too
   *[other] Forget the messages too: { $count }
}
forget-messages-done = { $count ->
    [1] My record of your message goes too, with all that only it supports.
   *[other] My record of your { $count } messages goes too, with all that only they support.
}
forget-messages-late = The fact is erased already, and I no longer know which messages said it.

said-button-forget = Forget { $n }
forget-said-confirm = Forget this message? “{ $text }” Everything that is known only from it goes too.
forget-said-done = Forgetting this message. You can still change your mind for { $minutes } { $minutes ->
    [one] minute
   *[other] minutes
}.

correct-ask =
    How should it be? Put it in one sentence.
    Now: “{ $text }”
    To leave it as it is: /cancel.
correct-done = Corrected. That's your word now, and it won't change by itself.
correct-same = That's what it says already; nothing to change.
correct-ended = Noted: it's over.
correct-denied = Taken back: I no longer hold that.
correct-choose = What should be corrected?
correct-nothing = This answer doesn't rest on any fact, so there's nothing in it to correct. /facts shows what I know.
refused-empty_fact = I need words for that, at least one.
refused-too_long = That's too long for one fact. Could you make it shorter?

why-title = **What this answer rests on**
why-uncited = It doesn't cite anything. At hand was:
why-given = Also at hand:
why-people = People I had in mind: { $names }
why-gone = this fact is gone
why-none = This answer used no memory: I answered from our conversation alone.
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
asof-rests = __What held then__
asof-without-words = I couldn't put the answer into words just now, but this held then:
period-moment = { DATETIME($first, dateStyle: "long", timeStyle: "short") }
period-day = { DATETIME($first, dateStyle: "long") }
period-span = { DATETIME($first, dateStyle: "long") } – { DATETIME($last, dateStyle: "long") }

contradiction-ask = These don't agree. Which is true?
contradiction-button-both = { $count ->
    [2] Both are true
   *[other] All are true
}
contradiction-button-neither = { $count ->
    [2] Neither
   *[other] None is true
}
contradiction-one = All right, this is true: { $fact }.
contradiction-both = All right, both may stand.
contradiction-neither = All right, I won't rely on that any more.
contradiction-gone = This question has settled itself: something changed in the meantime.

join-choose = What is { $name } really? Write the name of the thing that it is the same as.
join-which = Several things could be “{ $name }”. Which one?
join-unknown = I don't know a thing of that kind called “{ $name }”.
join-confirm = Merge them? { $source } becomes part of { $target }: what is known of both is joined, and the name { $target } stays.
join-done = Done: { $source } and { $target } are one thing now.
join-undone = Two things again.
