greeting = Hello! I am { $persona }. Tell me about the people in your life: I will remember them, and remind you when you ask.
thanks = You are welcome!
noted = { $count ->
    [one] Noted: { $names }.
   *[other] Noted, all of them: { $names }.
}
noted-known = I will add that to what I know: { $names }.
heard = I see.
about = { $name } ({ $circle }). You said: “{ $bio }”
about-empty = { $name } ({ $circle }). I know nothing more yet.
perhaps = I am not sure. This may be about:
circle-list = Here is whom I know, { $circle }:
circle-nobody = I know nobody in this circle yet: { $circle }.
unknown = I know nothing yet about a person called { $names }.
nothing = I have nothing to say to that: you have not told me about it.
offline = I am working without a language model now: I answer by rules, and only with what I remember about people.
and = and
Family = family
Work_Inner = close colleagues
Friends = friends
Work_Outer = through work
Other = acquaintances
