# Goals, decisions, questions, preferences, memories: lists, a card; what the bot asks by itself.

memories-title-goals = **Your goals** — { $count } ahead
memories-title-goals-past = **Earlier goals** — { $count }
memories-title-decisions = **Your decisions** — { $count }
memories-title-questions = **Questions without an answer** — { $count }
memories-title-questions-past = **Settled questions** — { $count }
memories-title-preferences = **What you like and what you do not** — { $count }
memories-title-memories = **What I remember** — { $count }, the latest first
memories-none-goals = There is no goal now. Tell me what you want to achieve, and I will keep it.
memories-none-decisions = There is no decision yet. Tell me what you decided and why, and I will keep it.
memories-none-questions = No question is open.
memories-none-preferences = I know nothing of your tastes and habits yet.
memories-none-memories = I remember nothing yet. The more you tell me, the more there will be.
memories-found = For “{ $text }” there is:
memories-not-found = For “{ $text }” there is nothing here.
memories-button-past = What is behind you: { $count }
memories-button-current = What is open: { $count }

memory-kind = { $kind ->
    [Goal] goal
    [Decision] decision
    [Question] question
    [Preference] preference
    [Context] context
    [Contradiction] contradiction
   *[Memory] memory
}
memory-status = { $status ->
    [active] ahead
    [achieved] reached
    [abandoned] given up
    [open] not answered
    [partial] answered in part
    [answered] settled
    [liked] liked
    [disliked] not liked
    [completed] finished
    [archived] in the archive
    [unresolved] not settled
    [accepted] both are right
   *[resolved] settled
}
memory-due = by { DATETIME($at, dateStyle: "long") }
memory-answered-at = answered { DATETIME($at, dateStyle: "long") }
memory-told = { DATETIME($at, dateStyle: "long") }
memory-rationale = Why: { $text }
memory-outcome = What came of it: { $text }
memory-category = About: { $text }
memory-resolution = How it ended: { $text }
memory-observed = Noticed more than once: { $count }
memory-superseded = This is not held any more: you decided so.
memory-button-reached = Reached
memory-button-given-up = No goal any more
memory-button-answered = Settled
memory-button-reopen = Open it again
memory-now-achieved = Congratulations!
memory-now-abandoned = All right, no goal any more.
memory-now-answered = All right, the question is closed.
memory-now-active = It is on the list again.
memory-now-open = It is on the list again.

forget-memory-confirm = Forget this? “{ $text }” The messages stay in the chat, but they will not bring it back here.
forget-memory-done = Forgetting it. For { $minutes } { $minutes ->
    [one] minute
   *[other] minutes
} you can still change your mind.

ask-contradiction = Two of my notes do not agree. Which is right?
ask-question = There is a question left without an answer: “{ $text }” ({ DATETIME($at, dateStyle: "long") }). Is it settled?
ask-fading = Nobody needed this for long. Forget it, or keep it?
ask-suggestion = You wrote “{ $current }”. Now it is said to be “{ $value }”. This is about the note “{ $text }”. Change it?
ask-button-answered = Yes, settled
ask-button-open = Still open
ask-button-forget = Forget { $n }
ask-button-keep = Keep
ask-button-never = Do not ask again
ask-answered = All right, the question is closed. Write what the answer was, and I will keep that too.
ask-open = All right, it stays open.
ask-kept = All right, it stays.
ask-never = All right, I will not ask about this again.
ask-held = All right, this is what I go by from now on.
suggestion-applied-memory = All right, it is changed.
ask-both = All right, both stand.
ask-gone = This question has gone: something has changed since.
ask-forgetting = Forgetting { $n }. For { $minutes } { $minutes ->
    [one] minute
   *[other] minutes
} you can still change your mind.
