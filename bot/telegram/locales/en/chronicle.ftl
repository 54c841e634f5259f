# Conversations: opened, continued, closed, listed.

session-begins = Your next message starts a new conversation.
session-goes-on = We continue with “{ $topic }”.
session-none = No conversation is open right now: your next message starts one.
session-closed = This conversation is closed: “{ $topic }”. I'll sum it up now; your next message starts a new one.
session-closed-unjudged = This conversation is closed: “{ $topic }”. Your next message starts a new one.
session-closed-words = I didn't treat the text after /ss as a message. Send it separately if you want an answer.
session-untitled = untitled
session-line = { DATETIME($at, dateStyle: "medium", timeStyle: "short") } — { $topic }
session-line-open = { DATETIME($at, dateStyle: "medium", timeStyle: "short") } — { $topic } (still open)
session-caption = Our conversation: { $topic }
sessions-title = Our conversations: { $count }. Press a button to see one word for word.
sessions-nothing = We haven't talked yet.
