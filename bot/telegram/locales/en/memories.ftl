# Goals, decisions, questions, preferences, memories: lists, a card; what the bot asks by itself.

memories-title-goals = **Your goals** — { $count } ahead
memories-title-goals-past = **Past goals** — { $count }
memories-title-decisions = **Your decisions** — { $count }
memories-title-questions = **Open questions** — { $count }
memories-title-questions-past = **Settled questions** — { $count }
memories-title-preferences = **Your likes and dislikes** — { $count }
memories-title-instructions = **What I always keep to** — { $count }
memories-title-instructions-past = **What no longer holds** — { $count }
memories-title-memories = **What I remember** — { $count }, newest first
memories-none-goals = No goals right now. Tell me what you want to achieve, and I'll remember it.
memories-none-decisions = No decisions yet. Tell me what you decided and why, and I'll remember it.
memories-none-questions = No open questions.
memories-none-preferences = I don't know your tastes and habits yet.
memories-none-instructions = No standing instructions. Tell me how to answer, for example “Always answer briefly” or “Never book anything before 10”, and I'll keep to it.
memories-none-memories = I don't remember anything yet. The more you tell me, the more there will be here.
memories-found = Found for “{ $text }”:
memories-not-found = Nothing found here for “{ $text }”.
memories-button-past = Earlier ones: { $count }
memories-button-current = Current ones: { $count }

memory-kind = { $kind ->
    [Goal] goal
    [Decision] decision
    [Question] question
    [Preference] preference
    [Instruction] instruction
    [Context] context
    [Contradiction] contradiction
   *[Memory] memory
}
memory-status = { $status ->
    [active] ahead
    [achieved] reached
    [abandoned] given up
    [ended] no longer holds
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
memory-said-at = { DATETIME($at, dateStyle: "long") }
memory-rationale = Why: { $text }
memory-outcome = Outcome: { $text }
memory-category = About: { $text }
memory-resolution = How it was settled: { $text }
memory-observed = Noticed several times: { $count }
memory-superseded = This no longer counts: you decided so.
memory-button-reached = Reached
memory-button-given-up = No longer a goal
memory-button-ended = No longer holds
memory-button-holds = Holds again
memory-button-answered = Settled
memory-button-reopen = Open it again
memory-now-achieved = Congratulations!
memory-now-abandoned = All right, no longer a goal.
memory-now-ended = All right, this no longer holds.
memory-now-answered = All right, the question is closed.
memory-now-active = It is on the list again.
memory-now-open = It is on the list again.

forget-memory-confirm = Forget this? “{ $text }” The messages stay in our chat, but they won't bring it back here.
forget-memory-done = Forgetting it. For { $minutes } { $minutes ->
    [one] minute
   *[other] minutes
} you can still change your mind.

ask-contradiction = Two of my notes contradict each other. Which is right?
ask-question = One of your questions has no answer yet: “{ $text }” ({ DATETIME($at, dateStyle: "long") }). Is it settled?
ask-fading = This hasn't been needed for a long time. Forget it or keep it?
ask-suggestion = You wrote “{ $current }”. Now I hear “{ $value }”. This is about the note “{ $text }”. Change it?
ask-button-answered = Yes, settled
ask-button-open = Still open
ask-button-forget = Forget { $n }
ask-button-keep = Keep
ask-button-never = Don't ask again
ask-answered = All right, the question is closed. Write me the answer, and I'll remember that too.
ask-open = All right, it stays open.
ask-kept = All right, I'll keep it.
ask-never = All right, I won't ask about this again.
ask-held = All right, I'll go by this from now on.
suggestion-applied-memory = All right, changed.
ask-both = All right, I'll keep both.
ask-gone = This question is no longer needed: something has changed since.
ask-forgetting = Forgetting { $n }. For { $minutes } { $minutes ->
    [one] minute
   *[other] minutes
} you can still change your mind.
