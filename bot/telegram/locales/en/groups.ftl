# Groups: what the bot says there by itself, and the settings of a group.

group-hello =
    Hello! In this group I answer when you write { $bot }, reply to me or give me a command; the rest I do not read.
    What is said to me here is remembered for this group alone: it never mixes with private chats.
    /groups shows what I keep to here, /forget me takes back all that you said to me.
group-not-invited = I work only in groups to which one of my own people adds me.
group-admins-only = Only administrators of this group can do that.
group-command-private = That is about private things: write it to me in our private chat.
group-budget-messages = This group has asked all its questions of today. Tomorrow I answer again.
group-budget-tokens = This group has used up its tokens of today. Tomorrow I answer again.
group-listens-not = I no longer listen. I answer when I am called.

group-listens = From now on I also listen when I am not called, and remember it for this group. Whoever writes “{ $word }” ends that.
group-forgot-member = { $name }, what you said here is out of sight ({ $count }), and so is what this group knows about you. In { $minutes } minutes it is erased for good.
group-card =
    __This group__
    { $listens }
    Questions a day: { $messages }, tokens a day: { $tokens }
    /forget me — take back what you said here
group-card-listens = I listen, and remember what is said. “{ $word }” ends that.
group-card-listens-not = I read only what is said to me.
group-button-listen = Listen
group-button-quiet = Do not listen

groups-on =
    __Groups are on.__ I work where one of your people adds me.
    { $groups }
groups-off =
    __Groups are off.__ In groups I only say that I work in private.
    { $groups }
groups-one = { $name }
groups-one-off = { $name } (off)
groups-button-on = Turn groups on
groups-button-off = Turn groups off
group-button-on = { $name }: on
group-button-off = { $name }: off

share-how = Reply with /share to what a group shall see, or write the words behind it.
share-nowhere = We have no group in common.
share-where = To which group? It will see these words, and I note that you shared them.
share-said = { $name } shares: { $text }
share-done = Shared with { $name }.
share-from = From the group { $group }, { $name }: { $text }
share-home-how = Reply with /share to a message, and I take it to your private chat. For that you must be one of my own people.

refused-group_admins = Only administrators of this group can do that.
menu-groups = In which groups I work
menu-share = Share something with a group
menu-shared = What was shared where
shared = What was shared, when and where:
shared-nothing = Nothing was shared with a group yet.
shared-line = • { DATETIME($at, dateStyle: "medium") } · { $name }: “{ $text }”
