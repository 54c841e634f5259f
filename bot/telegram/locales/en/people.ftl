# People: lists, profile, editing, merging, suggestions.

circle = { $circle ->
    [Family] Family
    [Work_Inner] Close colleagues
    [Friends] Friends
    [Work_Outer] Colleagues
   *[Other] Others
}
people-count = { $count } { $count ->
    [one] person
   *[other] people
}
people-none =
    I don't know anyone yet.
    Tell me about somebody, send a contact or forward a message, and people will appear here.
people-overview =
    I know { $count } { $count ->
        [one] person
       *[other] people
    }. Who should I show?
people-overview-group =
    Here I know { $members } { $members ->
        [one] member
       *[other] members
    } by what they wrote to me, and { $others } { $others ->
        [one] person
       *[other] people
    } whom you told me about. Who should I show?
people-circle-button = { $circle }: { $count }
people-circle-title = **{ $circle }** — { $count } { $count ->
    [one] person
   *[other] people
}
people-page = { $page } of { $pages }
people-suggestions-button = Questions for you: { $count }

person-ask = Who would you like to see? Send a name, an @username or a nickname.
person-unknown = I don't know anyone called “{ $name }”.
person-choose = Several people could be “{ $name }”. Which one?
person-title = **{ $name }**
person-circle = Circle: { $circle }
person-aliases = Also called: { $aliases }
person-username = Telegram: @{ $username }
person-mentions = Came up in { $count } { $count ->
    [one] conversation
   *[other] conversations
}
person-seen = Known since { DATETIME($first, dateStyle: "long") }, last came up { DATETIME($last, dateStyle: "long") }
person-seen-once = Known since { DATETIME($first, dateStyle: "long") }
person-button-circle = Circle
person-button-edit = Edit
person-button-merge = Merge with…
person-button-forget = Forget

person-choose-circle = Which circle does { $name } belong to?
person-choose-field = What should change about { $name }?
person-button-display_name = Name
person-button-bio = About
person-button-aliases = Other names
person-button-username = Username
person-edit-display_name = What's the right name? Now: { $value }. The old one stays among the other names.
person-edit-bio = What should I remember? Write all of it; the new text replaces the old one:
person-edit-aliases = What else is this person called? Separate names with commas; your list replaces the old one, "-" clears it. Now: { $value }
person-nothing-yet = nothing
person-saved = Done. You set this yourself, so it won't change on its own.

merge-choose = Who is it really: which of these is the same person as { $name }? Pick from the list or write the name.
merge-confirm = Merge them? { $source } becomes part of { $target }: names and details are combined, and the name { $target } stays.
merge-button-yes = Merge
merge-done = Done: { $source } and { $target } are one person now.
merge-button-undo = Undo
merge-undone = Two people again: { $source } and { $target }.
merge-nobody = There's nobody to merge with: I don't know anyone else.

contact-added = Now I know { $name }.
contact-updated = I know { $name } already. The contact is up to date.
contact-without-account = I couldn't take this card over: { $name }. Tell me about this person in words and I'll remember.
contact-self = That's your own contact! I won't put you on your list of people.

suggestion-none = No more questions.
suggestion-circle = { $name }: from what you said it looks like "{ $value }", but you chose "{ $current }". Change it?
suggestion-display_name = { $name }: the name { $value } came up. Use it instead of the old one?
suggestion-bio =
    { $name }: from what you said the description would be different.
    Now: { $current }
    New: { $value }
    Change it?
suggestion-aliases = { $name }: also seems to be called { $value }. Add that?
suggestion-username = { $name }: seems to be @{ $value } on Telegram. Save that?
suggestion-username-other = { $name }: seems to be @{ $value } on Telegram, not @{ $current }. Change it?
suggestion-merge = { $source } and { $target } look like one person. Merge them?
suggestion-button-apply = Yes
suggestion-button-keep = Keep it as it is
suggestion-applied = All right, changed: { $name }.
suggestion-kept = All right, it stays as it is.

refused-self_merge = A person can't be merged with themselves.
refused-different_telegram_ids = They have different Telegram accounts, so they are two different people.
refused-different_usernames = They have different @usernames, so they are two different people.
refused-already_merged = This profile has already been merged with another one.
refused-no_name = A name needs at least one letter or digit.
refused-bad_value = That's too long. Could you make it shorter?
refused-username_taken = Someone else already has this @username.
refused-being_forgotten = I'm forgetting this person right now. If that was a mistake, press "Undo" under that message.

map-empty = I don't know yet who is what to you. Tell me, as in “Maria is my sister” or “my boss is Peter”.
map-caption = { $count ->
    [one] One person around you
   *[other] { $count } people around you
  }{ $inferred ->
    [0] .
   *[other] ; { $inferred } of these relations I inferred myself (dashed).
  }
contacts-unreadable = I can't read contacts from this file. I understand vCards (.vcf) and Google's CSV.
contacts-review = Contacts: new { $new }, additions { $updated }, known already { $same }, left out { $left }.
contacts-new = { $name } — new
contacts-perhaps = (perhaps { $names }: I'll ask)
contacts-updates = { $name } — added: { $adds }
contacts-more = … and { $count } more
contacts-button-yes = Import { $count }
contacts-left = Left as they were: nothing was imported.
contacts-again = I can't open that file any more. Send it once more, please.
contacts-done = Imported: { $new } new, { $updated } completed. Each fact says that it comes from your contacts.
contacts-ask = { $count ->
    [one] One of them may be somebody I know: see /people.
   *[other] { $count } of them may be people I know: see /people.
  }
map-communities = Mentioned together: { $list }.
