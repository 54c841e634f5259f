greeting = Hello! I'm { $persona }. Tell me about the people in your life: I'll remember them, and remind you when you ask.
how-are-you = I'm fine, thank you! And how are you?
farewell = Bye! Write whenever you like.
thanks = You're welcome!
abilities = I'm { $persona }, and I remember people for you. Tell me about them in your own words, then ask: “Who is Tom?”, “Who are my friends?” Everybody I know is in /people.
noted = Noted: { $names }.
noted-known = I'll add that to what I know: { $names }.
forwarded = Forwarded from { $names }, I see. I remember an author whose account Telegram shows me; what else I know about people is from your own words, so tell me who matters here.
cannot-write = I can't write that without a language model: I only quote what you told me.
heard = I see.
instructed = All right, I'll keep to that from now on. The list is in /instructions.
lifted = All right.
about = { $name } ({ $circle }). From what you told me: “{ $bio }”
about-empty = { $name } ({ $circle }). I know the name and nothing more yet.
before = Before that: { $older }
quoted = From our conversation: “{ $said }”
fact = { $fact }
fact-since = { $fact } (since { $since })
fact-until = { $fact } (until { $until })
fact-since-until = { $fact } ({ $since } to { $until })
said-own = You wrote on { $at }: “{ $text }”
amended = { $quotation } (as you corrected it)
and-quoted = { "” “" }
corrected = Corrected: “{ $said }”
said-by = { $name }, { $at }: “{ $text }”
in-picture = In a picture of { $at }: “{ $text }”
picture = In the picture: “{ $said }”
picture-unseen = I can't look at pictures, and I found no words in that one.
only-this = What I know is only this:
perhaps = I'm not sure. This may be about:
circle-nobody = { $circle }: I don't know anyone here yet.
unknown = { $count ->
    [one] I don't know anything yet about a person called { $names }.
   *[other] I don't know anything yet about { $names }.
}
nothing = I have nothing on that: I only remember what you tell me.
offline = I'm working without a language model now: I answer by rules, and only with what I remember.
and = and
Family = Family
Work_Inner = Close colleagues
Friends = Friends
Work_Outer = Colleagues
Other = Others
remembered = This is what I remember:
memory-due = { $text }, by { $due }
memory-status = { $status ->
    [active] still ahead
    [achieved] reached
    [abandoned] given up
    [open] not answered yet
    [partial] answered in part
    [answered] answered
    [liked] you like it
   *[disliked] you do not like it
}
