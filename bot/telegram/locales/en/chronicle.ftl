# Conversations: opened, continued, closed, listed.

session-begins = A new conversation begins with your next message.
session-goes-on = We go on with “{ $topic }”.
session-none = No conversation is open just now: your next message begins one.
session-closed = This conversation is closed: “{ $topic }”. I'll sum it up now; your next message begins a new one.
session-closed-unjudged = This conversation is closed: “{ $topic }”. Your next message begins a new one.
session-closed-words = I didn't take what stood behind /ss as a message. Send it on its own if you want an answer.
session-untitled = without words
session-line = { DATETIME($at, dateStyle: "medium", timeStyle: "short") } — { $topic }
session-line-open = { DATETIME($at, dateStyle: "medium", timeStyle: "short") } — { $topic } (still open)
session-caption = Our conversation: { $topic }
sessions-title = Our conversations: { $count }. A button shows one word for word.
sessions-nothing = We haven't talked yet.
