page-people = People
circle-Family = Family
circle-Work_Inner = Close colleagues
circle-Friends = Friends
circle-Work_Outer = Colleagues
circle-Other = Others
people-empty = No people yet
people-empty-text = Tell the bot about somebody, and they appear here: “Maria is my sister, she lives in Lviv.” Contact cards and forwards count, too.
people-search = Find somebody
people-filter = Circles
people-drawing = People around you, nearest inside
people-closer = Zoom in
people-farther = Zoom out
people-whole = Show all
people-circles = All people
people-map-none = No relations are known yet. Say who somebody is to you: "my sister Masha".
people-map = Who is what to whom
people-list = People as a list
people-looking = Searching…
people-nobody = Nobody found. Try another name, or something you know about them.
people-found = Found: { $count }
people-count = { $count ->
    [one] { $count } person
   *[other] { $count } people
}
people-most = { $shown } most mentioned of { $count } people; the search covers everyone
people-mentions = { $count ->
    [one] { $count } mention
   *[other] { $count } mentions
}
people-seen = last seen { $at }
people-all = All people
people-first-seen = First seen
people-last-seen = Last seen
people-mentioned = Mentions
people-telegram = Telegram
people-about = About
people-no-bio = Nothing is noted about this person yet.
people-aliases = Also called
people-by-owner = set by hand
people-edit = Edit
people-merge = Merge
people-forget = Forget
people-forget-title = Forget { $name } for good?
people-forget-text = The profile goes, and every fact, memory, task and note that names this person. { $count ->
    [0] No message is about them.
    [1] One message about them stays: it can still be found and exported, but answers won't quote it. It can be erased too.
   *[other] { $count } messages about them stay: they can still be found and exported, but answers won't quote them. They can be erased too.
} Backups may hold it all for { $days } more { $days ->
    [one] day
   *[other] days
}. This cannot be undone.
people-forget-about = { $count ->
    [1] Forget with the message
   *[other] Forget with { $count } messages
}
people-in-graph = In the graph
people-facts = Facts over time
people-facts-none = No facts yet
people-facts-none-text = Facts come from what you tell the bot about this person; mentions are below.
people-fact-now = true now
people-fact-ended = no longer true
people-fact-corrected = corrected
people-fact-unknown = start date unknown
people-fact-since = since { $from }
people-fact-until = until { $until }
people-fact-span = { $from } – { $until }
people-why = Reason: { $reason }
people-before = Before: { $words }
people-sources = Sources
people-no-sources = Set by hand: no message says this.
people-open-message = Open the message
people-open-source = Open the source
people-forwarded = forwarded from { $name }
people-talks = Mentions
people-talks-none = No conversation mentions this person yet.
people-by-month = Mentions by month
people-month = { $month }: { $count }
people-no-lines = The exact lines are not marked; open the whole conversation to find them.
people-whole-talk = Read the whole conversation
people-merged = Merged into this profile
people-merged-text = Splitting gives each person their own profile back, with the facts and mentions they came with.
people-merged-at = merged { $at }
people-split = Split
people-split-title = Split off { $name }?
people-split-text = { $name } gets a separate profile again, with the facts and mentions that came from it. You can undo this.
people-split-done = { $name } has a separate profile again.
people-edit-title = Edit the profile
people-edit-text = The bot no longer changes what you set yourself.
people-name = Name
people-aliases-hint = Names separated by commas. The bot will not learn a removed name again.
people-username = Telegram username
people-circle = Circle
people-bio = About
people-save = Save
people-cancel = Cancel
people-saved = Saved.
people-merge-title = Merge { $name } with whom?
people-merge-find = Name of the other person
people-merge-none = Nobody by that name.
people-merge-choose = Someone else
people-merge-confirm = Merge { $source } into { $target }?
people-merge-text = Facts, mentions and names of { $source } move to { $target }. You can undo this, even later.
people-merge-swap = The other way round
people-merge-part = becomes part of
people-merge-done = { $source } is now part of { $target }.
people-undo = Undo
people-undone = Undone.
