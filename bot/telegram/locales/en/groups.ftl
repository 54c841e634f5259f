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
